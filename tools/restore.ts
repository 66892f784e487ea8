import { existsSync, rmSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { WeightsFile } from '@tessera/adapter';
import { type Config, loadConfig } from '@tessera/config';
import { lockFile } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, isThere } from '@tessera/files';
import { closeFilesToOthers, restoreMark } from '@tessera/lifecycle';
import { checkedList, corrupt } from './stores/backup-list.js';
import { faultOf } from './stores/backup-store.js';
import { namesIn, type StoreKind } from './stores/configured-stores.js';
import { copyDurably } from './stores/copy-file.js';
import { Flags, print, runCommand, stoppingBehind, withoutStops } from './terminal/command.js';

const USAGE = `usage: npm run restore -- --from DIR [--replace]

Puts a backup back, of a service that is stopped: all stores are checked and copied before the
first is put in its place. Refused where a process has one of the folders. One that was cut off
is run again, with --replace; until then no service starts on these stores.
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

const copyOf = (root: string) => `${root}.copying`;

/**
 * A copy of the backup, beside the root: folders below a root count as stores. It is locked: a
 * service that starts before all stores are in their place is refused.
 */
async function copied(from: string, target: Target, locks: (() => void)[]): Promise<void> {
  const { kind, name, root, below, files } = target;
  const copy = join(copyOf(root), below);
  for (const path of files) {
    await stoppingBehind(() => copyDurably(join(from, path), join(copy, relative(name, path))));
  }
  const fault = await stoppingBehind(() => faultOf(kind, copy));
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
  await FILE_SYSTEM.rename(join(copyOf(root), below), folder);
}

/** @throws STORE_INVALID for a root that cannot be renamed, before anything is changed */
async function refuseMounted(root: string): Promise<void> {
  const [own, parent] = await Promise.all([stat(root), stat(dirname(root))]);
  if (own.dev === parent.dev) return;
  const expected = `expected a folder on the disk of ${dirname(root)}`;
  throw new TesseraError('STORE_INVALID', `${root}: ${expected}, got a disk of its own`);
}

/** The first second from now that nothing moved aside is named for. */
function freeSecond(paths: readonly string[]): number {
  let seconds = Math.floor(Date.now() / 1000);
  while (paths.some((path) => existsSync(`${path}.before-${seconds}`))) seconds += 1;
  return seconds;
}

const heldIn = async (folder: string) => (await namesIn(folder)).filter((name) => name !== 'lock');

const mustBeEmpty = (path: string, what: string) =>
  new TesseraError('STORE_INVALID', `${path}: expected ${what}, or --replace`);

/** Weights keep their sets beside the record that is put back, which is replaced as a whole. */
async function weightsOf(from: string, { folder }: Target, isReplacing: boolean) {
  const backup = await new WeightsFile(join(from, 'weights'), FILE_SYSTEM).read();
  const here = new WeightsFile(folder, FILE_SYSTEM);
  const state = (found: typeof backup) => JSON.stringify(found?.state);
  const present = await here.read().then(state, () => 'damage');
  if (backup === undefined || present === state(backup)) return undefined;
  const path = join(folder, 'weights.json');
  if (present !== undefined && !isReplacing) throw mustBeEmpty(path, 'none, or that of the backup');
  return async (seconds: number) => {
    if (await isThere(path)) await copyDurably(path, `${path}.before-${seconds}`);
    await here.write(backup.state);
  };
}

/** All stores take their places: a start is refused from before the first until all have theirs. */
async function putAll(
  anew: readonly Target[],
  roots: readonly string[],
  putWeights: ((seconds: number) => Promise<void>) | undefined,
  seconds: number,
): Promise<void> {
  for (const root of roots) {
    await writeFile(restoreMark(root), '', { flush: true });
    await FILE_SYSTEM.syncFolder(dirname(root));
  }
  for (const target of anew) await putInPlace(target, seconds);
  await putWeights?.(seconds);
  for (const root of roots) await rm(restoreMark(root), { recursive: true });
}

await runCommand(USAGE, async (words) => {
  closeFilesToOthers();
  const flags = Flags.parse(words, { from: 'text', replace: 'switch' });
  const [from, isReplacing] = [flags.required('from'), flags.has('replace')];
  const { config } = loadConfig();
  const list = await checkedList(from);
  const targets: Target[] = list.stores.map(({ kind, name }) => {
    const [root, below] = [rootOf(config, kind), relative(kind, name)];
    const files = list.files.map(({ path }) => path).filter((path) => path.startsWith(`${name}/`));
    return { kind, name, root, below, folder: join(root, below), files };
  });
  const anew = targets.filter(({ kind }) => kind !== 'weights');
  const weights = targets.find(({ kind }) => kind === 'weights');
  const roots = [...new Set(anew.map(({ root }) => root))];
  const dropCopies = () => {
    for (const root of roots) rmSync(copyOf(root), { recursive: true, force: true });
  };
  const locks: (() => void)[] = [];
  try {
    for (const target of targets) {
      await mkdir(target.folder, { recursive: true });
      locks.push(lockOf(target, target.folder));
    }
    for (const { folder } of anew) {
      if (!isReplacing && (await heldIn(folder)).length > 0) {
        throw mustBeEmpty(folder, 'an empty folder');
      }
    }
    const putWeights = weights && (await weightsOf(from, weights, isReplacing));
    for (const root of roots) await refuseMounted(root);
    process.on('exit', dropCopies);
    dropCopies();
    for (const target of anew) await copied(from, target, locks);
    const records = weights === undefined ? [] : [join(weights.folder, 'weights.json')];
    const seconds = freeSecond([...roots, ...records]);
    await withoutStops(() => putAll(anew, roots, putWeights, seconds));
    for (const { name, folder, files } of targets) {
      await print(`${name}: ${files.length} files in ${folder}`);
    }
  } finally {
    for (const giveBack of locks) giveBack();
  }
});
