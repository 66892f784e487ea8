import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Without waiting: the open of a FIFO would, for a writer that may never come. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
const PART_BYTES = 1 << 16;

/** A file that the system would read, and the service does not. */
export class RefusedFile extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

function checkKind(path: string, found: Stats): void {
  if (found.isFile()) return;
  const kind = found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a FIFO' : 'a device or socket';
  throw new RefusedFile(path, `expected a regular file, got ${kind}`);
}

function checkSize(path: string, bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new RefusedFile(path, `expected at most ${bytesMax} bytes, got more`);
}

/**
 * Opens a regular file to be read, whatever a link leads to; anything else is refused.
 * @throws Error as open(2) does, RefusedFile for what is no regular file
 */
export async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, FLAGS);
  try {
    checkKind(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * All of a regular file.
 * @throws Error as openRegular(), RefusedFile for one of more bytes
 */
export async function readRegular(path: string, bytesMax: number): Promise<Buffer> {
  const file = await openRegular(path);
  try {
    checkSize(path, (await file.stat()).size, bytesMax);
    const bytes = await file.readFile();
    checkSize(path, bytes.length, bytesMax);
    return bytes;
  } finally {
    await file.close();
  }
}

/** All of a regular file, a part at a time. Rejects as openRegular() does. */
export async function* partsOfRegular(path: string): AsyncGenerator<Buffer> {
  const file = await openRegular(path);
  try {
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

/** Reads as readRegular() does, for small files at the start of a process. */
export function readRegularSync(path: string, bytesMax: number): Buffer {
  const file = openSync(path, FLAGS);
  try {
    const found = fstatSync(file);
    checkKind(path, found);
    checkSize(path, found.size, bytesMax);
    const parts: Buffer[] = [];
    for (let total = 0; ; ) {
      const part = Buffer.alloc(PART_BYTES);
      const bytes = readSync(file, part);
      if (bytes === 0) return Buffer.concat(parts);
      total += bytes;
      checkSize(path, total, bytesMax);
      parts.push(part.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
}
