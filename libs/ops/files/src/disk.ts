import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { RefusedFile, readRegular } from './regular-file.js';

/** Maximum bytes of a file that holds the state of a store. */
const STATE_BYTES_MAX = 256 << 20;

/** A file that is being written. */
export interface DiskFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes what was written outlive a loss of power. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Steps of a store on the file system: a test lets each of them fail. */
export interface Disk {
  makeFolder(path: string): Promise<void>;
  create(path: string): Promise<DiskFile>;
  /** The new name outlives a loss of power; a file that has it already is replaced. */
  rename(from: string, to: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
  /** A file or a folder with all that is in it; nothing where it is not there. */
  remove(path: string): Promise<void>;
  /** Names in a folder; none where it is not there. */
  list(path: string): Promise<readonly string[]>;
  /** Undefined where there is none. */
  read(path: string): Promise<Buffer | undefined>;
  /** Free bytes of the file system that a folder lies on. */
  freeBytes(path: string): Promise<number>;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function orNothing<Nothing>(nothing: Nothing) {
  return (error: NodeJS.ErrnoException): Nothing => {
    if (error.code === 'ENOENT') return nothing;
    throw error;
  };
}

export const FILE_SYSTEM: Disk = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true });
  },
  async create(path) {
    const file = await open(path, 'w');
    return {
      write: async (bytes) => {
        await file.writeFile(bytes);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  async rename(from, to) {
    await rename(from, to);
    await syncFolder(dirname(to));
  },
  syncFolder,
  remove: (path) => rm(path, { recursive: true, force: true }),
  list: (path) => readdir(path).catch(orNothing([])),
  read: (path) => readRegular(path, STATE_BYTES_MAX).catch(orNothing(undefined)),
  async freeBytes(path) {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
};

/**
 * Writes a file as a whole: a crash leaves the old one or the new one. Resolves when it is durable;
 * rejects with STORE_FULL or IO_FAILED, and `what` could not be kept.
 */
export async function replaceFile(
  disk: Disk,
  path: string,
  text: string,
  what: string,
): Promise<void> {
  const partial = `${path}.partial`;
  try {
    const file = await disk.create(partial);
    try {
      await file.write(Buffer.from(text));
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.rename(partial, path);
  } catch (thrown) {
    throw diskError(thrown, `${what} could not be kept`);
  }
}

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** A failure of the file system in the words of the error table: STORE_FULL or IO_FAILED. */
export function diskError(thrown: unknown, what: string): TesseraError {
  if (thrown instanceof TesseraError) return thrown;
  return failure(thrown, `${what}: ${(thrown as Error).message}`);
}

function failure(thrown: unknown, message: string): TesseraError {
  const isFull = FULL.has((thrown as NodeJS.ErrnoException).code);
  return new TesseraError(isFull ? 'STORE_FULL' : 'IO_FAILED', message, { cause: thrown });
}

/**
 * Any thrown value as TesseraError.from() has it, but for refusals of files, by the system too,
 * which are no fault of the program: STORE_FULL or IO_FAILED with the path. For people at a
 * terminal: callers of a service do not get its paths.
 */
export function errorOfSystem(thrown: unknown): TesseraError {
  if (thrown instanceof RefusedFile) return diskError(thrown, thrown.path);
  const { errno, syscall } = Object(thrown) as NodeJS.ErrnoException;
  if (errno === undefined || syscall === undefined) return TesseraError.from(thrown);
  return failure(thrown, (thrown as Error).message);
}
