import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { partsOfRegular } from '@tessera/files';
import type { EntryStore } from './domain/entry-store.js';
import { fileName, type Manifest } from './domain/manifest.js';
import type { StateFolder } from './domain/state-folder.js';

export type ManifestFile = Manifest['files'][number];

async function pathsIn({ path, has }: StateFolder): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .filter(has);
}

/** Copies the files of the state below `to`, by the names of their stores. Nobody writes them. */
export async function copyState(folders: readonly StateFolder[], to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  for (const folder of folders) {
    for (const path of await pathsIn(folder)) {
      const target = join(to, folder.store, path);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(join(folder.path, path), target);
    }
  }
}

/** Puts a copy of the state into the store, each file under the digest of its content. */
export async function uploadState(
  store: EntryStore,
  folders: readonly StateFolder[],
  from: string,
  log: string,
): Promise<ManifestFile[]> {
  const files: ManifestFile[] = [];
  for (const folder of folders) {
    const copied = { ...folder, path: join(from, folder.store) };
    for (const path of await pathsIn(copied)) {
      const file = { store: folder.store, path, ...(await measured(join(copied.path, path))) };
      await store.putFile(fileName(log, file.sha256), join(copied.path, path));
      files.push(file);
    }
  }
  return files;
}

/** Puts the files of a snapshot where the state is. What was there has been put aside. */
export async function placeState(
  store: EntryStore,
  folders: readonly StateFolder[],
  { log, files }: Manifest,
): Promise<void> {
  for (const folder of folders) {
    const own = files.filter((file) => file.store === folder.store);
    const into = `${folder.path}.joining`;
    await rm(into, { recursive: true, force: true });
    for (const { path, bytes, sha256 } of own) {
      const target = join(into, path);
      await mkdir(dirname(target), { recursive: true });
      await store.getFile(fileName(log, sha256), target);
      const got = await measured(target);
      if (got.bytes === bytes && got.sha256 === sha256) continue;
      const expected = `expected ${bytes} bytes of that digest`;
      const message = `${fileName(log, sha256)}: ${expected}, got others`;
      throw new TesseraError('STORE_CORRUPT', `${store.place}: ${message}`);
    }
    await moveIn(folder, into, own);
  }
}

async function moveIn(
  { path, isWhole }: StateFolder,
  from: string,
  files: readonly ManifestFile[],
): Promise<void> {
  if (files.length === 0) return;
  if (isWhole) {
    await rm(path, { recursive: true, force: true });
    await mkdir(dirname(path), { recursive: true });
    await rename(from, path);
    return;
  }
  await mkdir(path, { recursive: true });
  for (const file of files) await rename(join(from, file.path), join(path, file.path));
  await rm(from, { recursive: true, force: true });
}

/**
 * Puts the state of this node aside, in place of what was put aside before. Resolves with where it
 * is; [] where there was none.
 */
export async function putAside(folders: readonly StateFolder[]): Promise<string[]> {
  const aside: string[] = [];
  for (const folder of folders) {
    const paths = await pathsIn(folder);
    if (paths.length === 0) continue;
    const to = `${folder.path}.before-log`;
    await rm(to, { recursive: true, force: true });
    if (folder.isWhole) await rename(folder.path, to);
    else for (const path of paths) await movedInto(folder.path, to, path);
    aside.push(to);
  }
  return aside;
}

export async function removeState(folders: readonly StateFolder[]): Promise<void> {
  for (const folder of folders) {
    for (const path of await pathsIn(folder)) await rm(join(folder.path, path), { force: true });
  }
}

async function movedInto(from: string, to: string, path: string): Promise<void> {
  await mkdir(dirname(join(to, path)), { recursive: true });
  await rename(join(from, path), join(to, path));
}

async function measured(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of partsOfRegular(path)) {
    hash.update(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
