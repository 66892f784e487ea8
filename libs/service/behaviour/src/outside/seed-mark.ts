import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { partsOfRegular, readRegular } from '@tessera/files';
import { foreignSeed, type SeedMark, type ServedWith } from '../domain/seed-mark.js';

const MARK_BYTES_MAX = 1 << 20;

/** Path of the mark: beside the folder of the store, which has files of the store alone. */
function markPath(storePath: string): string {
  return `${storePath}.seed.json`;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of partsOfRegular(path)) hash.update(part);
  return hash.digest('hex');
}

/** A warning is all that hangs on it: where it cannot be written there is none. */
export async function writeSeedMark(
  storePath: string,
  usersPath: string,
  servedWith: ServedWith,
): Promise<void> {
  try {
    const { modelPath, cataloguePath } = servedWith;
    const usersSha256 = await digestOf(usersPath);
    const mark: SeedMark = { usersPath, usersSha256, modelPath, cataloguePath };
    await writeFile(markPath(storePath), `${JSON.stringify(mark, null, 1)}\n`);
  } catch {
    await removeSeedMark(storePath);
  }
}

export async function removeSeedMark(storePath: string): Promise<void> {
  await rm(markPath(storePath), { force: true }).catch(() => undefined);
}

async function readSeedMark(storePath: string): Promise<SeedMark | undefined> {
  try {
    if ((await readdir(storePath)).length === 0) return undefined;
    const mark = JSON.parse((await readRegular(markPath(storePath), MARK_BYTES_MAX)).toString());
    const members = [mark.usersPath, mark.usersSha256, mark.modelPath, mark.cataloguePath];
    return members.every((member) => typeof member === 'string') ? mark : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A line where the store began with the users of another model and catalogue, else ''. The users
 * file is only read where both differ.
 */
export async function noticeOfForeignSeed(
  storePath: string,
  usersPath: string,
  servedWith: ServedWith,
): Promise<string> {
  const mark = await readSeedMark(storePath);
  if (mark === undefined || !foreignSeed(mark, servedWith)) return '';
  const digest = await digestOf(usersPath).catch(() => '');
  if (digest === mark.usersSha256) return '';
  return (
    `${storePath} began with the users of ${mark.usersPath}, for the model ${mark.modelPath} and ` +
    `the catalogue ${mark.cataloguePath}; this start has the model ${servedWith.modelPath} and ` +
    `the catalogue ${servedWith.cataloguePath}: name another folder in behaviours.path ` +
    `(TESSERA_BEHAVIOURS_PATH), or, where they belong together, remove ${markPath(storePath)}`
  );
}
