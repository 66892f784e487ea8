import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, isThere, partsOfRegular, replaceFile, wipeFile } from '@tessera/files';
import type { EntryStore } from '@tessera/log';
import { fileName, type Manifest } from './domain/manifest.js';
import { NOTES, type NoteName, type Placing, type StateFiles } from './domain/state-files.js';
import type { StateFolder } from './domain/state-folder.js';

type ManifestFile = Manifest['files'][number];

/** State in folders of this node. */
export class FolderFiles implements StateFiles {
  /**
   * @param folders the first is that of the changes: the notes are in it
   * @param scratch where the files are copied to
   */
  constructor(
    private readonly folders: readonly [StateFolder, ...StateFolder[]],
    private readonly scratch: string,
  ) {}

  placeOf(note: NoteName): string {
    const [{ path }] = this.folders;
    return note === 'placing' ? `${path}${NOTES[note]}` : join(path, NOTES[note]);
  }

  read(note: NoteName): Promise<Buffer | undefined> {
    return FILE_SYSTEM.read(this.placeOf(note));
  }

  async write(note: NoteName, content: unknown): Promise<void> {
    const path = this.placeOf(note);
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(FILE_SYSTEM, path, `${JSON.stringify(content)}\n`, NOTES[note]);
  }

  wipe(note: NoteName): Promise<void> {
    return wipeFile(this.placeOf(note));
  }

  copy(): Promise<void> {
    return copyState(this.folders, this.scratch);
  }

  upload(store: EntryStore, log: string): Promise<ManifestFile[]> {
    return uploadState(store, this.folders, this.scratch, log);
  }

  async dropCopy(): Promise<void> {
    await rm(this.scratch, { recursive: true, force: true });
  }

  fetch(store: EntryStore, manifest: Manifest): Promise<void> {
    return fetchState(store, this.folders, manifest);
  }

  fetchNothing(): Promise<void> {
    return fetchNothing(this.folders);
  }

  place(placing: Placing): Promise<string[]> {
    return placeFetched(this.folders, placing);
  }
}

const fetchedInto = ({ path }: StateFolder) => `${path}.joining`;
const asideOf = ({ path }: StateFolder, { aside }: Placing) =>
  aside === '' ? `${path}.unwanted` : `${path}.before-log-${aside}`;

async function pathsIn({ path, has }: StateFolder): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .filter(has);
}

/**
 * Copies the files of the state below `to`, by the names of their stores. Writers wait
 * meanwhile. Files that are final are linked, others share their blocks where the disk can.
 */
async function copyState(folders: readonly StateFolder[], to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  for (const folder of folders) {
    for (const path of await pathsIn(folder)) {
      const [source, target] = [join(folder.path, path), join(to, folder.store, path)];
      await mkdir(dirname(target), { recursive: true });
      const copied = () => copyFile(source, target, constants.COPYFILE_FICLONE);
      // Of another disk there is no link.
      if (folder.isFinal(path)) await link(source, target).catch(copied);
      else await copied();
    }
  }
}

async function uploadState(
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

async function fetchState(
  store: EntryStore,
  folders: readonly StateFolder[],
  { log, files }: Manifest,
): Promise<void> {
  await fetchNothing(folders);
  for (const folder of folders) {
    const into = fetchedInto(folder);
    for (const { path, bytes, sha256 } of files.filter((file) => file.store === folder.store)) {
      const target = join(into, path);
      await mkdir(dirname(target), { recursive: true });
      await store.getFile(fileName(log, sha256), target);
      const got = await measured(target);
      if (got.bytes !== bytes || got.sha256 !== sha256) {
        const message = `${fileName(log, sha256)}: expected ${bytes} bytes of that digest`;
        throw new TesseraError('STORE_CORRUPT', `${store.place}: ${message}, got others`);
      }
    }
    await syncFolders(into);
  }
}

async function fetchNothing(folders: readonly StateFolder[]): Promise<void> {
  for (const folder of folders) {
    await rm(fetchedInto(folder), { recursive: true, force: true });
    await mkdir(fetchedInto(folder), { recursive: true });
  }
}

/** A folder or file that is not beside the state any more has been moved in. */
async function placeFetched(folders: readonly StateFolder[], placing: Placing): Promise<string[]> {
  const aside: string[] = [];
  for (const folder of folders) {
    const files = placing.files.filter((file) => file.store === folder.store);
    const own = files.map(({ path }) => path);
    const to = asideOf(folder, placing);
    if (placing.aside === '') await rm(to, { recursive: true, force: true });
    const isMoved = folder.isWhole
      ? await placeWhole(folder, to)
      : await placeFiles(folder, own, to);
    if (placing.aside === '') await rm(to, { recursive: true, force: true });
    else if (isMoved) aside.push(to);
    await FILE_SYSTEM.syncFolder(dirname(folder.path));
  }
  return aside;
}

async function placeWhole(folder: StateFolder, aside: string): Promise<boolean> {
  const from = fetchedInto(folder);
  if (!(await isThere(from))) return false;
  const isOld = (await pathsIn(folder)).length > 0;
  if (isOld) {
    await rename(folder.path, aside);
  } else {
    await rm(folder.path, { recursive: true, force: true });
  }
  await rename(from, folder.path);
  return isOld;
}

async function placeFiles(
  folder: StateFolder,
  own: readonly string[],
  aside: string,
): Promise<boolean> {
  const from = fetchedInto(folder);
  if (!(await isThere(from))) return false;
  let isOld = false;
  for (const path of await pathsIn(folder)) {
    // One of the snapshot that is there and no longer beside it was moved in before.
    if (own.includes(path) && !(await isThere(join(from, path)))) continue;
    isOld = true;
    await moved(join(folder.path, path), join(aside, path));
  }
  for (const path of own) {
    if (await isThere(join(from, path))) await moved(join(from, path), join(folder.path, path));
  }
  await rm(from, { recursive: true, force: true });
  return isOld;
}

async function moved(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
  await FILE_SYSTEM.syncFolder(dirname(to));
}

async function syncFolders(path: string): Promise<void> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isDirectory())) {
    await FILE_SYSTEM.syncFolder(join(entry.parentPath, entry.name));
  }
  await FILE_SYSTEM.syncFolder(path);
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
