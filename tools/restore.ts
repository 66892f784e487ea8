import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Config, loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import { backed, faultOf } from './stores/backup-store.js';
import {
  namesIn,
  STORE_KINDS,
  type StoreKind,
  warnOfEarlierStores,
} from './stores/configured-stores.js';
import { Flags, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run restore -- --from DIR [--replace]

Puts a backup back, of a service that is stopped: checked first, each store as a whole.
  --replace   folders that hold something are moved aside, to FOLDER.before-SECONDS`;

const listSchema = z.object({
  format: z.literal(1),
  stores: z.array(z.object({ kind: z.enum(STORE_KINDS), name: z.string() })),
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});
type BackupList = z.infer<typeof listSchema>;

function corrupt(message: string): TesseraError {
  return new TesseraError('STORE_CORRUPT', `--from: ${message}`);
}

async function checked(from: string): Promise<BackupList> {
  const text = await readFile(join(from, 'backup.json'), 'utf8').catch(() => {
    throw corrupt(`${from}: expected backup.json, got no such file: no backup, or broken off`);
  });
  const list = listSchema.parse(JSON.parse(text));
  for (const { path, bytes, sha256 } of list.files) {
    const found = await backed(from, join(from, path)).catch(() => undefined);
    if (found?.bytes === bytes && found.sha256 === sha256) continue;
    throw corrupt(`${path}: expected ${bytes} bytes of SHA-256 ${sha256}, got something else`);
  }
  return list;
}

function folderOf(config: Config, kind: StoreKind, name: string): string {
  const folders: Record<StoreKind, string> = {
    behaviours: config.behaviours.path,
    'catalogue-changes': join(config.catalogue.changesPath, relative('catalogue-changes', name)),
    adapters: config.adapters.path,
    weights: config.weights.path,
  };
  return folders[kind];
}

/** Weights keep their sets beside the record that is put back. */
async function restoreWeights(from: string, folder: string, files: readonly string[]) {
  await mkdir(folder, { recursive: true });
  for (const path of files)
    await copyFile(join(from, path), join(folder, relative('weights', path)));
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, { from: 'text', replace: 'switch' });
  const from = flags.required('from');
  const { config } = loadConfig();
  warnOfEarlierStores(config);
  const list = await checked(from);
  const targets = list.stores.map((store) => ({
    ...store,
    folder: folderOf(config, store.kind, store.name),
    files: list.files.map(({ path }) => path).filter((path) => path.startsWith(`${store.name}/`)),
  }));
  for (const { kind, folder } of targets) {
    if (kind === 'weights' || flags.has('replace') || (await namesIn(folder)).length === 0)
      continue;
    throw new TesseraError('STORE_INVALID', `${folder}: expected an empty folder, or --replace`);
  }
  for (const { kind, name, folder, files } of targets) {
    if (kind === 'weights') {
      await restoreWeights(from, folder, files);
    } else {
      const partial = `${folder}.restoring`;
      await rm(partial, { recursive: true, force: true });
      for (const path of files) {
        const target = join(partial, relative(name, path));
        await mkdir(dirname(target), { recursive: true });
        await copyFile(join(from, path), target);
      }
      const fault = await faultOf(kind, partial);
      if (fault !== '') throw corrupt(`${name}: ${fault}`);
      const aside = `${folder}.before-${Math.floor(Date.now() / 1000)}`;
      if ((await namesIn(folder)).length > 0) await rename(folder, aside);
      else await rm(folder, { recursive: true, force: true });
      await rename(partial, folder);
    }
    await print(`${name}: ${files.length} files in ${folder}`);
  }
});
