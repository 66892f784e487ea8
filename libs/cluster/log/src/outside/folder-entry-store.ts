import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, isThere, readRegular } from '@tessera/files';
import { checkEntryName } from '../domain/entry-name.js';
import type { EntryStore } from '../domain/entry-store.js';

/** Maximum bytes that are read into memory. */
const CONTENT_BYTES_MAX = 2 ** 31 - 1;
/** Suffix of files that are not whole yet; no entry has such a name. */
const PARTIAL = '.partial';

/** A folder that all nodes see, such as a mount. */
export class FolderEntryStore implements EntryStore {
  readonly place: string;

  constructor(private readonly folder: string) {
    this.place = folder;
  }

  put(name: string, content: Uint8Array): Promise<void> {
    return this.write(name, async (partial) => {
      const file = await open(partial, 'wx');
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }

  putFile(name: string, path: string): Promise<void> {
    return this.write(name, (partial) => copySynced(path, partial));
  }

  async get(name: string): Promise<Uint8Array> {
    return this.act(name, (path) => readRegular(path, CONTENT_BYTES_MAX));
  }

  async getFile(name: string, path: string): Promise<void> {
    await this.act(name, async (source) => {
      await access(source, constants.R_OK);
      const partial = `${path}.${randomUUID()}`;
      try {
        await copySynced(source, partial);
        await rename(partial, path);
      } finally {
        await rm(partial, { force: true });
      }
    });
  }

  async list(prefix: string): Promise<readonly string[]> {
    // Folders beside the prefix may have very many entries.
    const top = join(this.folder, prefix.slice(0, prefix.lastIndexOf('/') + 1));
    try {
      const found = await readdir(top, { recursive: true, withFileTypes: true });
      return found
        .filter((entry) => entry.isFile())
        .map((entry) => relative(this.folder, join(entry.parentPath, entry.name)))
        .filter((name) => name.startsWith(prefix) && !name.startsWith(PARTIAL))
        .sort();
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw this.fault(thrown);
    }
  }

  async remove(name: string): Promise<void> {
    await this.act(name, (path) => rm(path, { force: true }));
  }

  private async write(name: string, fill: (partial: string) => Promise<void>): Promise<void> {
    await this.act(name, async (path) => {
      if (await isThere(path)) return;
      const partial = join(this.folder, PARTIAL, randomUUID());
      await mkdir(dirname(partial), { recursive: true });
      try {
        await fill(partial);
        await mkdir(dirname(path), { recursive: true });
        await FILE_SYSTEM.rename(partial, path);
      } finally {
        await rm(partial, { force: true });
      }
    });
  }

  private async act<T>(name: string, act: (path: string) => Promise<T>): Promise<T> {
    checkEntryName(this.place, name);
    try {
      return await act(join(this.folder, name));
    } catch (thrown) {
      const { code, path } = thrown as NodeJS.ErrnoException;
      const isMissing = code === 'ENOENT' && path === join(this.folder, name);
      // Without its folder nothing is known of the entry: a mount may be away.
      if (!isMissing || !(await isThere(this.folder).catch(() => false))) throw this.fault(thrown);
      const text = `${this.place}: expected ${name}, which is not there`;
      throw new TesseraError('STORE_CORRUPT', text, { cause: thrown });
    }
  }

  private fault(thrown: unknown): TesseraError {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const cause = { cause: thrown };
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    const text = `${this.place}: ${message}`;
    return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, cause);
  }
}

async function copySynced(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
