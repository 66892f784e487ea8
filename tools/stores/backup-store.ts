import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { repairChanges, repairStore } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { type ConfiguredStore, namesIn, type StoreKind } from './configured-stores.js';

export interface BackedFile {
  /** Relative to the backup. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Of a store that is being written, some copies do not fit together: another is made. */
const ATTEMPTS = 20;

/**
 * Files of a store in the order in which they are copied, so that what a service adds meanwhile is
 * left out, never missing: marks say what there must be at least, and are first.
 */
async function filesOf({ kind, folder }: ConfiguredStore): Promise<string[]> {
  if (kind === 'weights') {
    const names = await namesIn(folder);
    return names.filter((name) => /^weights(\.copy)?\.json$/.test(name));
  }
  if (kind === 'adapters') {
    const versions = await readdir(join(folder, 'versions'), { recursive: true }).catch(() => []);
    const state = ['registry.json', 'registry.copy.json'];
    const files = [...state, ...versions.map((name) => join('versions', name))];
    return onlyFiles(folder, files);
  }
  const order = [/^marks$/, /^CURRENT$/, /^MANIFEST-/, /\.snapshot$/, /\.sst$/, /./];
  const place = (name: string) => order.findIndex((pattern) => pattern.test(name));
  const names = (await namesIn(folder)).filter((name) => name !== 'lock' && !/\.tmp/.test(name));
  return onlyFiles(
    folder,
    names.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1)),
  );
}

async function onlyFiles(folder: string, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  return names.filter((_, i) => found[i]?.isFile() === true);
}

/** The lack of a copy against all that was acknowledged when it was begun; '': none. */
export async function faultOf(kind: StoreKind, folder: string): Promise<string> {
  if (kind !== 'behaviours' && kind !== 'catalogue-changes') return '';
  const repair = kind === 'behaviours' ? repairStore : repairChanges;
  const damage = await repair(folder, false).then(
    (found) => found.damage,
    (thrown: Error) => thrown.message,
  );
  await rm(join(folder, 'lock'), { force: true });
  return damage;
}

/** Copies a store, of a service that may run, below `to`. Rejects with STORE_CORRUPT, IO_FAILED. */
export async function copyStore(store: ConfiguredStore, to: string): Promise<BackedFile[]> {
  const target = join(to, store.name);
  let fault = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await rm(target, { recursive: true, force: true });
    try {
      await mkdir(target, { recursive: true });
      const begun = await filesOf(store);
      // Logs of numbers that have come since are listed when the rest has been copied.
      for (const name of begun) await copyOne(store.folder, target, name);
      for (const name of await filesOf(store)) {
        if (!begun.includes(name)) await copyOne(store.folder, target, name);
      }
      fault = await faultOf(store.kind, target);
      if (fault === '') return await Promise.all((await below(target)).map((f) => backed(to, f)));
    } catch (thrown) {
      fault = (thrown as Error).message;
    }
  }
  throw new TesseraError('STORE_CORRUPT', `${store.name} cannot be backed up: ${fault}`);
}

async function copyOne(from: string, to: string, name: string): Promise<void> {
  await mkdir(dirname(join(to, name)), { recursive: true });
  await copyFile(join(from, name), join(to, name));
}

async function below(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

export async function backed(root: string, path: string): Promise<BackedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { path: relative(root, path), bytes, sha256: hash.digest('hex') };
}
