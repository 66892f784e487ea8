import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { repositoryRoot } from '@tessera/config';
import { DuckDbInspectionStore, InspectedRecalls } from '@tessera/inspection';
import { createRecallRuntime, type RecallRuntime } from '@tessera/recall';
import { runtimeOptions } from '../../tools/terminal/model-flags.js';
import { type Measurement, quantile } from '../result.js';
import type { SuiteContext } from './suite.js';

const WARM_UP = 50;
const BUDGET_US = 60e6;
const USERS_MAX = 200;
/** Of a recorded recall's latency, against one that is not. */
const RECORDING_BAR = 1.02;
const LIMITS = { rowsMax: 100, timeoutMs: 120_000 };
const TOP_ITEMS =
  'SELECT item_id, count(*) AS n FROM items GROUP BY item_id ORDER BY n DESC LIMIT 20';

/** What recording costs a recall, what questions cost the store, and what a page weighs. */
export async function consoleSuite(context: SuiteContext): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-console-'));
  try {
    return [
      ...(await recording(context, join(folder, 'recording'))),
      ...(await questions(context, join(folder, 'questions'))),
      ...pages(),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openStore(path: string): Promise<DuckDbInspectionStore> {
  return DuckDbInspectionStore.open({
    path,
    memoryBytes: 2 ** 29,
    queueMax: 10_000,
    retention: { ageMsMax: 1e15, bytesMax: 2 ** 40 },
    onRecords: () => undefined,
    onFault: (thrown) => {
      throw thrown;
    },
  });
}

function recallsOf(runtime: RecallRuntime, store: DuckDbInspectionStore): InspectedRecalls {
  return new InspectedRecalls({
    runtime,
    store,
    rules: { percent: 0, users: new Set() },
    catalogueSequence: () => 0,
    nowMs: Date.now,
    draw: () => 1,
    pulseMs: 5000,
  });
}

/** Recorded and not recorded by turns, so that both meet the same machine. */
async function recording(
  { quick, flags, say }: SuiteContext,
  path: string,
): Promise<Measurement[]> {
  const runtime = await createRecallRuntime(runtimeOptions(flags, () => undefined));
  const store = await openStore(path);
  const recalls = recallsOf(runtime, store);
  try {
    const users = await runtime.sampleUserIds(USERS_MAX);
    const timesUs = { recorded: [] as number[], plain: [] as number[] };
    const count = quick ? 1000 : 8000;
    say(`${count} recalls of each kind, by turns`);
    for (let at = 0; at < count + WARM_UP; at++) {
      for (const kind of ['plain', 'recorded'] as const) {
        const request = {
          ...NO_WISHES,
          userId: users[at % users.length] as string,
          wantsSight: kind === 'recorded',
        };
        const began = performance.now();
        const signal = new AbortController().signal;
        await recalls.recall(request, { signal, budgetUs: BUDGET_US });
        if (at >= WARM_UP) timesUs[kind].push((performance.now() - began) * 1000);
      }
    }
    await store.settled();
    const { dropped } = await store.state();
    const [plain, recorded] = [quantile(timesUs.plain, 0.5), quantile(timesUs.recorded, 0.5)];
    return [
      { name: 'recall, not recorded, median', value: plain, unit: 'us', bar: null },
      {
        name: 'recall, recorded with its tree, median',
        value: recorded,
        unit: 'us',
        ratio: { value: recorded / plain, to: 'not recorded' },
        bar: RECORDING_BAR,
        bound: 'at-most',
      },
      { name: 'records dropped', value: dropped, unit: 'recalls', bar: null },
    ];
  } finally {
    recalls.close();
    await store.close();
    await runtime.close();
  }
}

const NO_WISHES = {
  requestId: '',
  profile: {},
  scene: {},
  resultCount: 0,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: false,
};

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
  await (await openStore(path)).close();
  await fill(path, items);
  const store = await openStore(path);
  try {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) times.push((await store.query(TOP_ITEMS, LIMITS)).milliseconds);
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
