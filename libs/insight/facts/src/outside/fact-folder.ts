import { readdirSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { countedFiles } from '../domain/fact-files.js';
import { FACT_TABLES, type FactTableName } from '../domain/fact-tables.js';

/** Beside the folders of the tables. */
export const STATE_FILE = 'state.duckdb';
export const KEYS_FILE = 'pseudonyms.keys';

/** A path as SQL has it. */
export const quoted = (path: string) => `'${path.replaceAll("'", "''")}'`;
const PARTIAL = '.partial';

export const tableFolder = (folder: string, name: FactTableName) => join(folder, name);

/** Folders of all tables. */
export const factFolders = (folder: string) =>
  FACT_TABLES.map(({ name }) => tableFolder(folder, name));

/** Paths of the files of a table that count now, in the order of time. */
export function tableFiles(folder: string, name: FactTableName): string[] {
  const at = tableFolder(folder, name);
  const files = readdirSync(at).filter((file) => file.endsWith('.parquet'));
  const { form } = FACT_TABLES.find((table) => table.name === name) ?? { form: 'rows' };
  const counted = form === 'state' ? files : countedFiles(files);
  return counted.map((file) => join(at, file));
}

/** Paths of files whose rows are in the file of their hour or day as well. */
export function coveredFiles(folder: string): string[] {
  return FACT_TABLES.flatMap(({ name }) => {
    const counted = new Set(tableFiles(folder, name));
    const at = tableFolder(folder, name);
    const files = readdirSync(at).filter((file) => file.endsWith('.parquet'));
    return files.map((file) => join(at, file)).filter((path) => !counted.has(path));
  });
}

/** Makes the folders, and removes what an earlier process left half-written. */
export async function makeFolders(folder: string): Promise<void> {
  for (const { name } of FACT_TABLES) {
    const at = tableFolder(folder, name);
    await mkdir(at, { recursive: true });
    for (const file of await readdir(at)) {
      if (file.endsWith(PARTIAL)) await rm(join(at, file), { force: true });
    }
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A file that is there whole or not at all, whatever ends this process. */
export async function writeWhole(
  path: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${path}${PARTIAL}`;
  try {
    await write(partial);
    await sync(partial);
    await rename(partial, path);
    await sync(dirname(path));
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown;
  }
}

export async function bytesOf(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
