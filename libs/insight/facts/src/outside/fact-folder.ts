import { existsSync, readdirSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { countedFiles } from '../domain/fact-files.js';
import { FACT_TABLES, type FactTableName } from '../domain/fact-tables.js';

/** File beside the folders of the tables. */
export const STATE_FILE = 'state.duckdb';
export const KEYS_FILE = 'pseudonyms.keys';

/** A path as SQL has it. */
export const quoted = (path: string) => `'${path.replaceAll("'", "''")}'`;
const PARTIAL = '.partial';
/** Suffix of a file that is to go and counts no more: readers that know of it go on for a while. */
const GONE = '.gone';

export const tableFolder = (folder: string, name: FactTableName) => join(folder, name);

/** Folders of all tables. */
export const factFolders = (folder: string) =>
  FACT_TABLES.map(({ name }) => tableFolder(folder, name));

/** Rows of files, of which some may lack columns that others have. */
export const parquetOf = (paths: readonly string[]) =>
  `read_parquet([${paths.map(quoted).join(', ')}], union_by_name = true)`;

/** Paths of the files of a table that count now, in the order of time. */
export function tableFiles(folder: string, name: FactTableName): string[] {
  const at = tableFolder(folder, name);
  const names = new Set(readdirSync(at));
  const isThere = (file: string) => file.endsWith('.parquet') && !names.has(`${file}${GONE}`);
  const files = [...names].filter(isThere);
  const { form } = FACT_TABLES.find((table) => table.name === name) ?? { form: 'rows' };
  const counted = form === 'state' ? files : countedFiles(files);
  return counted.map((file) => join(at, file));
}

/** Makes a file count no more. */
export function retire(path: string): Promise<void> {
  return writeFile(`${path}${GONE}`, '');
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(`${path}${GONE}`, { force: true });
}

export const isRetired = (path: string) => existsSync(`${path}${GONE}`);

/** Says to the next process how many rows of which table the last one lost at its end. */
const LOST_FILE = 'lost-rows';

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

export async function keepLostRows(folder: string, counts: RowCounts): Promise<void> {
  await mkdir(folder, { recursive: true });
  const all = [...Object.entries(counts), ...Object.entries(await takeLostRows(folder))];
  const lines = all.map(([table, count]) => `${count} ${table}`);
  await writeFile(join(folder, LOST_FILE), lines.join('\n'));
}

/** Each loss is taken once. A file of an earlier release has a number and no table. */
export async function takeLostRows(folder: string): Promise<RowCounts> {
  const path = join(folder, LOST_FILE);
  const text = await readFile(path, 'utf8').catch(() => '');
  await rm(path, { force: true });
  const counts: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const [count = '', table = ''] = line.split(' ');
    const rows = Number.parseInt(count, 10) || 0;
    if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
  }
  return counts;
}

/** Paths of files whose rows are in the file of their hour or day as well, and of retired ones. */
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
      const isLeft = file.endsWith(GONE) && !existsSync(join(at, file.slice(0, -GONE.length)));
      if (file.endsWith(PARTIAL) || isLeft) await rm(join(at, file), { force: true });
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
