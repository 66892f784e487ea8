export function bundledLibraries(
  addon: string,
): readonly { readonly name: string; readonly path: string }[];
export function enginePackageName(root: string): string;
export function writeEnginePackage(root: string, folder: string): { readonly glibc: string };
