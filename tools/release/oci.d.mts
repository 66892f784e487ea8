interface Layer {
  readonly entries: readonly string[];
  readonly owned: readonly { readonly path: string; readonly owner: number }[];
}
interface LayoutParts {
  readonly layers: readonly Layer[];
  readonly config: object;
  readonly epoch: number;
  readonly tag: string;
  readonly annotations: Readonly<Record<string, string>>;
}
export function writeLayout(
  folder: string,
  root: string,
  parts: LayoutParts,
): { readonly digest: string; readonly bytes: number };
