import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DEFAULT_ADAPTER, repairRegistry, WeightsFile } from '@tessera/adapter';
import { repairChanges, repairStore } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { diskError, FILE_SYSTEM } from '@tessera/files';
import { stoppingBehind } from '../terminal/command.js';
import { type ConfiguredStore, namesIn, type StoreKind } from './configured-stores.js';
import { copyDurably } from './copy-file.js';

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

/**
 * The lack of a copy against all that was acknowledged when it was begun; '': none. Rejects where
 * another copy would be no better: with STORE_NEWER, STORE_FULL.
 */
export async function faultOf(kind: StoreKind, folder: string): Promise<string> {
  try {
    return await FAULTS[kind](folder);
  } catch (thrown) {
    const { code, message } = TesseraError.from(thrown);
    if (code === 'STORE_NEWER' || code === 'STORE_FULL') throw thrown;
    return message;
  } finally {
    await rm(join(folder, 'lock'), { force: true });
  }
}

/** As a repair looks through a store, or a start; a start's refusal is thrown. */
const FAULTS: Readonly<Record<StoreKind, (folder: string) => Promise<string>>> = {
  behaviours: async (folder) => (await repairStore(folder, false)).damage,
  'catalogue-changes': async (folder) => (await repairChanges(folder, false)).damage,
  adapters: async (folder) => {
    const unused = { name: DEFAULT_ADAPTER, baseModel: '' };
    return (await repairRegistry({ folder, ...unused, apply: false })).damage;
  },
  weights: async (folder) => {
    await new WeightsFile(folder, FILE_SYSTEM).read();
    return '';
  },
};

/**
 * Copies a store, of a service that may run, below `to`. Rejects with STORE_CORRUPT, STORE_NEWER,
 * STORE_FULL, IO_FAILED.
 */
export async function copyStore(store: ConfiguredStore, to: string): Promise<BackedFile[]> {
  const target = join(to, store.name);
  const copyOne = (name: string) =>
    stoppingBehind(() => copyDurably(join(store.folder, name), join(target, name)));
  let fault = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await rm(target, { recursive: true, force: true });
    try {
      await mkdir(target, { recursive: true });
      const begun = await filesOf(store);
      // Logs of numbers that have come since are listed when the rest has been copied.
      for (const name of begun) await copyOne(name);
      for (const name of await filesOf(store)) {
        if (!begun.includes(name)) await copyOne(name);
      }
      fault = await stoppingBehind(() => faultOf(store.kind, target));
      if (fault === '') return await Promise.all((await below(target)).map((f) => backed(to, f)));
    } catch (thrown) {
      const { code, message } = thrown as NodeJS.ErrnoException;
      // A file that the service has replaced meanwhile.
      if (code !== 'ENOENT') throw diskError(thrown, `${store.name} cannot be backed up`);
      fault = message;
    }
  }
  throw new TesseraError('STORE_CORRUPT', `${store.name} cannot be backed up: ${fault}`);
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
