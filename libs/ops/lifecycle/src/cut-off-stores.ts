import { readdir } from 'node:fs/promises';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { diskError, isThere } from '@tessera/files';

/**
 * Mark beside a folder, from before a restore puts the first store in its place until the last one
 * is in its own.
 */
export const restoreMark = (folder: string) => `${folder}.restoring`;

/** Store that a repair has made and that takes the folder's place when it is whole. */
export const repairedStore = (folder: string) => `${folder}.repairing`;

/** True behind a repair that had moved the damaged store aside and nothing in its place. */
export async function isRepairCutOff(folder: string): Promise<boolean> {
  if (!(await isThere(repairedStore(folder)))) return false;
  const names = await readdir(folder).catch(() => []);
  return names.every((name) => name === 'lock');
}

/**
 * Rejects with STORE_INVALID where a restore or a repair was cut off: stores of two states would be
 * served, or one would be begun anew, with users who were erased since.
 */
export async function refuseCutOff({ behaviours, catalogue, adapters }: Config): Promise<void> {
  const folders = {
    'behaviours.path': behaviours.store === 'embedded' ? behaviours.path : '',
    'catalogue.changesPath': catalogue.changesPath,
    'adapters.path': adapters.path,
  };
  for (const [field, folder] of Object.entries(folders)) {
    if (folder !== '') await refuseOne(field, folder);
  }
}

async function refuseOne(field: string, folder: string): Promise<void> {
  try {
    const [mark, made] = [restoreMark(folder), repairedStore(folder)];
    if (await isThere(mark)) throw cutOff(field, 'restore', 'replace', mark);
    if (await isRepairCutOff(folder)) throw cutOff(field, 'repair', 'apply', made);
  } catch (thrown) {
    throw diskError(thrown, field);
  }
}

function cutOff(field: string, command: string, flag: string, path: string): TesseraError {
  const got = `a ${command} that was cut off or goes on (${path}): run it again, with --${flag}`;
  return new TesseraError('STORE_INVALID', `${field}: expected a store, got ${got}`, { field });
}
