export const COMMANDS: readonly string[];
export function releaseFiles(root: string): string[];
export function releaseManifest(root: string): { readonly dependencies: Record<string, string> };
