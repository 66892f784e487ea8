import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Config } from '@tessera/config';

export const STORE_KINDS = ['behaviours', 'catalogue-changes', 'adapters', 'weights'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** A folder that a service of this configuration keeps something in. */
export interface ConfiguredStore {
  readonly kind: StoreKind;
  /** In a backup, and for people; `behaviours`, `catalogue-changes/DIGEST` and so on. */
  readonly name: string;
  readonly folder: string;
}

/** Those that exist. */
export async function configuredStores(config: Config): Promise<ConfiguredStore[]> {
  const stores: ConfiguredStore[] = [];
  const add = async (kind: StoreKind, folder: string) => {
    if (folder !== '' && (await namesIn(folder)).length > 0) {
      stores.push({ kind, name: kind, folder });
    }
  };
  if (config.behaviours.store === 'embedded') await add('behaviours', config.behaviours.path);
  const { changesPath } = config.catalogue;
  for (const folder of changesPath === '' ? [] : await changeFolders(changesPath)) {
    const name = `catalogue-changes/${relative(changesPath, folder)}`;
    stores.push({ kind: 'catalogue-changes', name, folder });
  }
  await add('adapters', config.adapters.path);
  await add('weights', config.weights.path);
  return stores;
}

export function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** One for each set of sources, below the name of a catalogue where there are several. */
async function changeFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isDirectory() || entry.name.startsWith('cut-')) continue;
    const folder = join(root, entry.name);
    const names = await namesIn(folder);
    const isOfChanges =
      names.includes('marks') || names.some((name) => /^\d+\.changes$/.test(name));
    if (isOfChanges) folders.push(folder);
    else folders.push(...(await changeFolders(folder)));
  }
  return folders;
}
