import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Config, loadConfig } from '@tessera/config';
import { lockFile } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { closeFilesToOthers } from '@tessera/lifecycle';
import { checkedList, corrupt } from './stores/backup-list.js';
import { faultOf } from './stores/backup-store.js';
import { namesIn, type StoreKind } from './stores/configured-stores.js';
import { Flags, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run restore -- --from DIR [--replace]

Puts a backup back, of a service that is stopped: all stores are checked and copied before the
first is put in its place. Refused where a process has one of the folders.
  --replace   folders that hold something are moved aside, to FOLDER.before-SECONDS`;

/** Folder of the configuration for the stores of a kind. */
function rootOf(config: Config, kind: StoreKind): string {
  const roots: Record<StoreKind, string> = {
    behaviours: config.behaviours.path,
    'catalogue-changes': config.catalogue.changesPath,
    adapters: config.adapters.path,
    weights: config.weights.path,
  };
  return roots[kind];
}

interface Target {
  readonly kind: StoreKind;
  readonly name: string;
  readonly root: string;
  /** Place of the store below the root; '' where the root is the store. */
  readonly below: string;
  readonly folder: string;
  /** Relative to the backup. */
  readonly files: readonly string[];
}

/** A service's lock on one of its folders. @returns the release of the lock */
function lockOf({ name }: Target, folder: string): () => void {
  try {
    return lockFile(join(folder, 'lock'));
  } catch (thrown) {
    const { code, message } = TesseraError.from(thrown);
    throw new TesseraError(code, `${name}: ${message}: stop the service first`, {
      field: 'lock',
      cause: thrown,
    });
  }
}

/** Weights keep their sets beside the record that is put back. */
async function restoreWeights(from: string, { folder, files }: Target): Promise<void> {
  for (const path of files)
    await copyFile(join(from, path), join(folder, relative('weights', path)));
}

const copyOf = (root: string) => `${root}.restoring`;
const dropCopy = (root: string) => rm(copyOf(root), { recursive: true, force: true });

/**
 * A copy of the backup, beside the root: folders below a root count as stores. It is locked: a
 * service that starts before all stores are in their place is refused.
 */
async function copied(from: string, target: Target, locks: (() => void)[]): Promise<void> {
  const { kind, name, root, below, files } = target;
  const copy = join(copyOf(root), below);
  for (const path of files) {
    const file = join(copy, relative(name, path));
    await mkdir(dirname(file), { recursive: true });
    await copyFile(join(from, path), file);
  }
  const fault = await faultOf(kind, copy);
  if (fault !== '') throw corrupt(`${name}: ${fault}`);
  locks.push(lockOf(target, copy));
}

/** The copy takes the folder's place; what held something is moved aside. */
async function putInPlace({ root, below, folder }: Target, seconds: number): Promise<void> {
  const aside = join(`${root}.before-${seconds}`, below);
  if ((await heldIn(folder)).length > 0) {
    await mkdir(dirname(aside), { recursive: true });
    await rename(folder, aside);
  } else await rm(folder, { recursive: true, force: true });
  await rename(join(copyOf(root), below), folder);
}

/** @throws STORE_INVALID for a root that cannot be renamed, before anything is changed */
async function refuseMounted(root: string): Promise<void> {
  const [own, parent] = await Promise.all([stat(root), stat(dirname(root))]);
  if (own.dev === parent.dev) return;
  const expected = `expected a folder on the disk of ${dirname(root)}`;
  throw new TesseraError('STORE_INVALID', `${root}: ${expected}, got a disk of its own`);
}

/** The first second from now that no folder moved aside is named for. */
function freeSecond(roots: readonly string[]): number {
  let seconds = Math.floor(Date.now() / 1000);
  while (roots.some((root) => existsSync(`${root}.before-${seconds}`))) seconds += 1;
  return seconds;
}

const heldIn = async (folder: string) => (await namesIn(folder)).filter((name) => name !== 'lock');

await runCommand(USAGE, async (words) => {
  closeFilesToOthers();
  const flags = Flags.parse(words, { from: 'text', replace: 'switch' });
  const from = flags.required('from');
  const { config } = loadConfig();
  const list = await checkedList(from);
  const targets: Target[] = list.stores.map(({ kind, name }) => {
    const [root, below] = [rootOf(config, kind), relative(kind, name)];
    const files = list.files.map(({ path }) => path).filter((path) => path.startsWith(`${name}/`));
    return { kind, name, root, below, folder: join(root, below), files };
  });
  const anew = targets.filter(({ kind }) => kind !== 'weights');
  const roots = [...new Set(anew.map(({ root }) => root))];
  const locks: (() => void)[] = [];
  try {
    for (const target of targets) {
      await mkdir(target.folder, { recursive: true });
      locks.push(lockOf(target, target.folder));
    }
    for (const { folder } of anew) {
      if (flags.has('replace') || (await heldIn(folder)).length === 0) continue;
      throw new TesseraError('STORE_INVALID', `${folder}: expected an empty folder, or --replace`);
    }
    for (const root of roots) await refuseMounted(root);
    const asideSeconds = freeSecond(roots);
    try {
      for (const root of roots) await dropCopy(root);
      for (const target of anew) await copied(from, target, locks);
      for (const target of targets) {
        if (target.kind === 'weights') await restoreWeights(from, target);
        else await putInPlace(target, asideSeconds);
        await print(`${target.name}: ${target.files.length} files in ${target.folder}`);
      }
    } finally {
      for (const root of roots) await dropCopy(root);
    }
  } finally {
    for (const giveBack of locks) giveBack();
  }
});
