export interface Radius {
  readonly name: string;
  readonly paths: readonly string[];
}
export const RADIUS_MAX: number;
export function isCounted(path: string): boolean;
export function radii(files: ReadonlyMap<string, string>): Radius[];
export function radiusFaults(
  files: ReadonlyMap<string, string>,
  ceilings: Readonly<Record<string, number | null>>,
): { path: string; line: number; message: string }[];
