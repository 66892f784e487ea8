import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorCode, expecting } from '@tessera/errors';

/** Beginning of a file whose content Git LFS keeps elsewhere (its specification, version 1). */
const LFS_POINTER = Buffer.from('version https://git-lfs.github.com/spec/');

/** @throws TesseraError of the code where bytes of a file are a pointer to its content */
export function refuseLfsPointer(path: string, bytes: Uint8Array, code: ErrorCode): void {
  if (!LFS_POINTER.equals(bytes.subarray(0, LFS_POINTER.length))) return;
  throw expecting(code)(path, 'the file', 'a Git LFS pointer to it (git lfs pull)');
}

/**
 * A download's cache has the folders of a model below `snapshots`, by revision.
 * @throws TesseraError of the code where the folder is the root of such a cache
 */
export async function refuseCacheRoot(folder: string, code: ErrorCode): Promise<void> {
  const names = await readdir(join(folder, 'snapshots')).catch((): string[] => []);
  const [revision] = names;
  if (revision === undefined) return;
  const wanted = names.map((name) => join(folder, 'snapshots', name)).join(' or ');
  throw expecting(code)(folder, `the folder of a model (${wanted})`, 'the root of a cache');
}
