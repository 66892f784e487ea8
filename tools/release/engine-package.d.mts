export function bundledLibraries(
  addon: string,
): readonly { readonly name: string; readonly path: string }[];
