/** Writes @tessera/client to a folder that is not there yet. */
export function writeClientPackage(root: string, folder: string): void;
