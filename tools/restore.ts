import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
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

Puts a backup back, of a service that is stopped: checked first, each store as a whole. Refused
where a process has one of the folders.
  --replace   folders that hold something are moved aside, to FOLDER.before-SECONDS`;

function folderOf(config: Config, kind: StoreKind, name: string): string {
  const folders: Record<StoreKind, string> = {
    behaviours: config.behaviours.path,
    'catalogue-changes': join(config.catalogue.changesPath, relative('catalogue-changes', name)),
    adapters: config.adapters.path,
    weights: config.weights.path,
  };
  return folders[kind];
}

interface Target {
  readonly kind: StoreKind;
  readonly name: string;
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

/** The folder anew from the backup; what held something is moved aside. */
async function restoreFolder(from: string, target: Target, locks: (() => void)[]): Promise<void> {
  const { kind, name, folder, files } = target;
  const partial = `${folder}.restoring`;
  await rm(partial, { recursive: true, force: true });
  for (const path of files) {
    const copy = join(partial, relative(name, path));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(join(from, path), copy);
  }
  const fault = await faultOf(kind, partial);
  if (fault !== '') throw corrupt(`${name}: ${fault}`);
  // A service that starts before all stores are in their place is refused.
  locks.push(lockOf(target, partial));
  const aside = `${folder}.before-${Math.floor(Date.now() / 1000)}`;
  if ((await heldIn(folder)).length > 0) await rename(folder, aside);
  else await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

const heldIn = async (folder: string) => (await namesIn(folder)).filter((name) => name !== 'lock');

await runCommand(USAGE, async (words) => {
  closeFilesToOthers();
  const flags = Flags.parse(words, { from: 'text', replace: 'switch' });
  const from = flags.required('from');
  const { config } = loadConfig();
  const list = await checkedList(from);
  const targets: Target[] = list.stores.map(({ kind, name }) => ({
    kind,
    name,
    folder: folderOf(config, kind, name),
    files: list.files.map(({ path }) => path).filter((path) => path.startsWith(`${name}/`)),
  }));
  const locks: (() => void)[] = [];
  try {
    for (const target of targets) {
      await mkdir(target.folder, { recursive: true });
      locks.push(lockOf(target, target.folder));
    }
    for (const { kind, folder } of targets) {
      if (kind === 'weights' || flags.has('replace') || (await heldIn(folder)).length === 0)
        continue;
      throw new TesseraError('STORE_INVALID', `${folder}: expected an empty folder, or --replace`);
    }
    for (const target of targets) {
      if (target.kind === 'weights') await restoreWeights(from, target);
      else await restoreFolder(from, target, locks);
      await print(`${target.name}: ${target.files.length} files in ${target.folder}`);
    }
  } finally {
    for (const giveBack of locks) giveBack();
  }
});
