import { access } from 'node:fs/promises';

/** Rejects where nobody can tell, as below a folder that may not be searched. */
export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}
