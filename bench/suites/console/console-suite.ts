import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { repositoryRoot } from '@tessera/config';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { benchStore } from './bench-store.js';
import { BROWSER_PATH, inBrowser } from './in-browser.js';
import { recording } from './recording.js';

const LIMITS = { rowsMax: 100, timeoutMs: 120_000 };
const TOP_ITEMS =
  'SELECT item_id, count(*) AS n FROM items GROUP BY item_id ORDER BY n DESC LIMIT 20';

/** The costs of recording for a recall and of questions for the store, and the size of a page. */
export async function consoleSuite(context: SuiteContext): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-console-'));
  try {
    return [
      ...(await recording(context, join(folder, 'recording'))),
      ...(await questions(context, join(folder, 'questions'))),
      ...pages(),
      ...(existsSync(BROWSER_PATH) ? await inBrowser(context, join(folder, 'browser')) : []),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Rows as many recalls of ten items would have left. */
async function fill(path: string, items: number): Promise<void> {
  const instance = await DuckDBInstance.create(join(path, 'inspection.duckdb'));
  const connection = await instance.connect();
  await connection.run(
    'INSERT INTO items SELECT (range // 10)::VARCHAR, make_timestamp_ms(range), range % 10 + 1, ' +
      `(hash(range) % 100000)::VARCHAR, '1-2-3', -random() * 10, 'title' FROM range(${items})`,
  );
  connection.closeSync();
  instance.closeSync();
}

async function questions({ quick, say }: SuiteContext, path: string): Promise<Measurement[]> {
  const items = quick ? 1_000_000 : 10_000_000;
  say(`a question over ${items} recorded items`);
  await (await benchStore(path)).close();
  await fill(path, items);
  const store = await benchStore(path);
  try {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const began = performance.now();
      await store.query(TOP_ITEMS, LIMITS);
      times.push(performance.now() - began);
    }
    const name = `SQL, items returned most of ${items / 1e6} M, one thread, median`;
    return [{ name, value: quantile(times, 0.5), unit: 'ms', bar: null }];
  } finally {
    await store.close();
  }
}

/** Bytes that the first view takes, as they are sent. */
function pages(): Measurement[] {
  const folder = join(repositoryRoot, 'build', 'console');
  if (!existsSync(folder)) return [];
  const sizeOf = (name: string) => statSync(join(folder, 'assets', `${name}.br`)).size;
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const first = [...html.matchAll(/assets\/([^"]+\.(?:js|css))"/g)].map(([, name]) => name ?? '');
  const all = readdirSync(join(folder, 'assets')).filter((name) => /\.(js|css)$/.test(name));
  const sum = (names: readonly string[]) => names.reduce((bytes, name) => bytes + sizeOf(name), 0);
  return [
    { name: 'frame of the console, as sent', value: sum(first) / 1024, unit: 'KiB', bar: null },
    { name: 'all views of it, as sent', value: sum(all) / 1024, unit: 'KiB', bar: null },
  ];
}
