import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { TesseraError } from '@tessera/errors';
import type { AdapterFile } from '../domain/adapter-version.js';

const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);
/** Error of open(2) where the last part of the path is a symbolic link. */
const IS_LINK = 'ELOOP';

/**
 * Opens a regular file to be read; waits for nobody, as the open of a FIFO would. Rejects with
 * ADAPTER_NOT_FOUND, ADAPTER_INVALID for anything but a regular file, or IO_FAILED.
 * @param links whether a symbolic link is followed
 */
export async function openRegular(
  path: string,
  links: 'followed' | 'refused',
): Promise<FileHandle> {
  const noFollow = links === 'refused' ? constants.O_NOFOLLOW : 0;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noFollow).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === IS_LINK) throw notRegular(path, 'a symbolic link');
      const message = `${path}: expected a file, got: ${thrown.message}`;
      const code = ABSENT.has(thrown.code) ? 'ADAPTER_NOT_FOUND' : 'IO_FAILED';
      throw new TesseraError(code, message, { cause: thrown });
    },
  );
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  if (!found.isDirectory()) throw notRegular(path, 'something else');
  throw new TesseraError('ADAPTER_NOT_FOUND', `${path}: expected a file, got a folder`);
}

function notRegular(path: string, got: string): TesseraError {
  return new TesseraError('ADAPTER_INVALID', `${path}: expected a regular file, got ${got}`);
}

/** All of an open file, from its beginning; it stays open. */
export function contentOf(file: FileHandle): AsyncIterable<Buffer> {
  return file.createReadStream({ start: 0, autoClose: false });
}

/** Size and digest of an open file. Rejects with IO_FAILED. */
export async function hashOfOpen(
  file: FileHandle,
  path: string,
): Promise<Omit<AdapterFile, 'name'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of contentOf(file)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (thrown) {
    const message = `${path}: expected a file, got: ${(thrown as Error).message}`;
    throw new TesseraError('IO_FAILED', message, { cause: thrown });
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Size and digest of a file. Rejects as openRegular() does. */
export async function hashOf(path: string): Promise<Omit<AdapterFile, 'name'>> {
  const file = await openRegular(path, 'followed');
  try {
    return await hashOfOpen(file, path);
  } finally {
    await file.close();
  }
}
