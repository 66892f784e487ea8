/** Merging on a disk that is full, which is a small one in memory: it needs the right to mount. */

import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { seededRandom, temporaryFolder } from '@tessera/testing';
import { expect, it } from 'vitest';
import { OPEN_RECALLS, ROLLED_RECALLS, viewStatements } from './outside/fact-views.js';
import { FactWriter } from './outside/fact-writer.js';

const SEED = 7;
const HOUR_MS = 3_600_000;
const BEGIN_MS = Date.UTC(2026, 10, 26, 11);
const KEEP_MS = 24 * HOUR_MS;
const PARTS = 6;
const ITEMS = 20;

const open = (path: string, graceMs: number) =>
  FactWriter.open({
    path,
    node: 'n',
    memoryBytes: 2 ** 28,
    keepMs: KEEP_MS,
    keepBytes: 2 ** 40,
    fileRowsMax: 1e6,
    waitingRowsMax: 1e6,
    graceMs,
  });

async function append(
  writer: FactWriter,
  random: () => number,
  fromMs: number,
  count: number,
  members: object = {},
) {
  const plain = (index: number) => ({
    user: 0,
    time: fromMs + index,
    recall_id: `${fromMs}-${index}`,
    request_id: String(random()),
    edge: 'grpc',
    catalogue: '',
    model: 'm',
    adapter: '',
    catalogue_seq: 1,
    code: 'OK',
    scene: {},
    item_ids: Array.from({ length: ITEMS }, (_item, rank) => `${rank}-${Math.floor(random() * 9)}`),
    scores: Array.from({ length: ITEMS }, random),
  });
  const rows = Array.from({ length: count }, (_, index) => Object.assign(plain(index), members));
  const batch = { table: 'recall_fact' as const, rows: JSON.stringify(rows), count };
  await writer.append({ ...batch, userIds: [''] });
  await writer.flush(fromMs);
}

async function rowsOf(path: string, sql: string) {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  for (const statement of viewStatements(path, [])) await connection.run(statement);
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** Recalls, how many differ, their items, those of `item_hour`, and those that it should have. */
async function counted(path: string) {
  const items = (view: string) => `(SELECT coalesce(sum(len(item_ids)), 0) FROM ${view})`;
  const [row = {}] = await rowsOf(
    path,
    'SELECT count(*)::DOUBLE, count(DISTINCT recall_id)::DOUBLE, ' +
      `(${items(ROLLED_RECALLS)} + ${items(OPEN_RECALLS)})::DOUBLE, ` +
      `((SELECT coalesce(sum(recalls), 0) FROM item_hour) = ${items(ROLLED_RECALLS)}) ` +
      'FROM recall_fact',
  );
  return Object.values(row);
}

it('loses and doubles nothing where the disk is full while hours are merged', async (context) => {
  const folder = temporaryFolder({});
  const path = folder.path;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', path]);
  if (mounted.status !== 0) {
    folder.remove();
    context.skip('expected the right to mount a disk in memory, got none');
  }
  const random = seededRandom(SEED);
  let writer = await open(path, HOUR_MS);
  try {
    await append(writer, random, BEGIN_MS - 3 * KEEP_MS, 5);
    for (let part = 0; part < PARTS; part++) {
      await append(writer, random, BEGIN_MS + part * 60_000, 1500);
    }
    const at = join(path, 'recall_fact');
    const [old = '', ...parts] = readdirSync(at).sort();
    const bytes = parts.reduce((sum, file) => sum + statSync(join(at, file)).size, 0);
    const { bavail, bsize } = statfsSync(path);
    writeFileSync(join(path, 'full'), Buffer.alloc(bavail * bsize - Math.floor(bytes / 2)));
    const nowMs = BEGIN_MS + HOUR_MS;
    await expect(writer.tidy(nowMs), `seed ${SEED}`).rejects.toThrow(/no space left/i);
    // The file that is too old has gone all the same, and the hour is counted already.
    expect(readdirSync(join(path, 'item_hour'))).toHaveLength(1);
    expect(readdirSync(at).sort()).toEqual(parts);
    expect(old).not.toBe('');
    const all = [PARTS * 1500, PARTS * 1500, PARTS * 1500 * ITEMS, true];
    expect(await counted(path)).toEqual(all);
    rmSync(join(path, 'full'));
    await writer.tidy(nowMs);
    expect(await counted(path)).toEqual(all);
    // A process that ends now leaves files that count no more to the next one.
    await writer.close();
    writer = await open(path, 0);
    await writer.tidy(nowMs);
    expect(readdirSync(at)).toEqual(['20261126T11.n.parquet']);
    expect(await counted(path)).toEqual(all);
  } finally {
    await writer.close();
    spawnSync('umount', [path]);
    folder.remove();
  }
}, 120_000);

/** Files as an earlier release wrote them. */
async function withoutWorth(path: string, files: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const newer = 'valuation, item_values, item_terms, explored, propensities, no_propensities';
  const explore = 'explore_slots, explore_temperature, explore_seed';
  const rank = 'rank_adapter, rank_adapter_name, rank_valuation, ranked_items, rank_left_out';
  const ranked = 'item_heads, rank_values, recall_ranks';
  for (const file of files.map((name) => join(path, 'recall_fact', name))) {
    const older = `SELECT * EXCLUDE (${[newer, explore, rank, ranked]}) FROM '${file}'`;
    await connection.run(`CREATE OR REPLACE TABLE rows AS ${older}`);
    await connection.run(`COPY rows TO '${file}' (FORMAT parquet)`);
  }
  connection.closeSync();
  instance.closeSync();
}

async function within(act: (path: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder({});
  await act(folder.path).finally(() => folder.remove());
}

const allOf = (count: number) => [count, count, count * ITEMS, true];
const recalls = (path: string) =>
  readdirSync(join(path, 'recall_fact')).filter((file) => file.endsWith('.parquet'));

it('keeps what it writes after the clock went back over an hour that is merged', async () => {
  await within(async (path) => {
    const random = seededRandom(SEED);
    let writer = await open(path, 0);
    await append(writer, random, BEGIN_MS + 59 * 60_000, 10);
    await writer.tidy(BEGIN_MS + HOUR_MS);
    expect(recalls(path)).toEqual(['20261126T11.n.parquet']);
    for (const [time, clock] of [30, 57, 58].entries()) {
      await append(writer, random, BEGIN_MS + clock * 60_000, 10);
      await writer.tidy(BEGIN_MS + clock * 60_000);
      expect(await counted(path)).toEqual(allOf(10 * (time + 2)));
      await writer.close();
      writer = await open(path, 0);
    }
    await writer.tidy(BEGIN_MS + 2 * HOUR_MS);
    await writer.tidy(BEGIN_MS + 14 * HOUR_MS);
    await writer.tidy(BEGIN_MS + 14 * HOUR_MS);
    await append(writer, random, BEGIN_MS, 10);
    await writer.tidy(BEGIN_MS + 14 * HOUR_MS);
    await writer.close();
    expect(await counted(path)).toEqual(allOf(50));
  });
});

it('leaves a file that is too old to those who read it, and names it to nobody', async () => {
  await within(async (path) => {
    const random = seededRandom(SEED);
    let writer = await open(path, HOUR_MS);
    await append(writer, random, BEGIN_MS - 3 * KEEP_MS, 5);
    await append(writer, random, BEGIN_MS, 7);
    const both = recalls(path);
    await writer.tidy(BEGIN_MS);
    expect(recalls(path)).toEqual(both);
    expect(await counted(path)).toEqual(allOf(7));
    await writer.tidy(BEGIN_MS + HOUR_MS / 2);
    expect(recalls(path)).toEqual(both);
    await writer.close();
    // Another process gives it the whole time again.
    writer = await open(path, HOUR_MS);
    await writer.tidy(BEGIN_MS + HOUR_MS / 2);
    expect(recalls(path)).toEqual(both);
    await writer.tidy(BEGIN_MS + 2 * HOUR_MS);
    await writer.close();
    expect(readdirSync(join(path, 'recall_fact')).join()).not.toMatch(/gone|20261123/);
  });
});

it('merges give way to what has less time, and go on with the rest later', async () => {
  const folder = temporaryFolder({});
  const writer = await open(folder.path, 0);
  const random = seededRandom(SEED);
  for (let part = 0; part < PARTS; part++) {
    await append(writer, random, BEGIN_MS + part * HOUR_MS, 5);
    await append(writer, random, BEGIN_MS + part * HOUR_MS + 60_000, 5);
  }
  const files = () => readdirSync(join(folder.path, 'recall_fact')).length;
  const nowMs = BEGIN_MS + (PARTS + 1) * HOUR_MS;
  let left = 2;
  const isWanted = () => left-- > 0;
  await writer.tidy(nowMs, isWanted);
  await writer.tidy(nowMs, () => false);
  expect(files()).toBe(2 * PARTS - 2);
  for (let times = 0; times < 2; times++) await writer.tidy(nowMs);
  expect(files()).toBe(PARTS);
  expect((await counted(folder.path))?.slice(0, 2)).toEqual([10 * PARTS, 10 * PARTS]);
  await writer.close();
  folder.remove();
});

it('reads and merges files of an earlier release with newer ones', async () => {
  await within(async (path) => {
    const random = seededRandom(SEED);
    const writer = await open(path, 0);
    const worth = {
      item_values: [1.5],
      item_terms: [{ bid: 0.5 }],
      explore_seed: '2'.repeat(19),
      item_heads: [{ click: 0.25 }],
      recall_ranks: [3],
    };
    await append(writer, random, BEGIN_MS, 3);
    await withoutWorth(path, recalls(path));
    const columns = Object.keys(worth);
    const told = `SELECT DISTINCT ${columns.join()} FROM recall_fact`;
    const none = Object.fromEntries(columns.map((column) => [column, null]));
    expect(await rowsOf(path, told)).toEqual([none]);
    await append(writer, random, BEGIN_MS + 60_000, 2, worth);
    const both = [
      {
        item_values: [1.5],
        item_terms: [[{ key: 'bid', value: 0.5 }]],
        explore_seed: worth.explore_seed,
        item_heads: [[{ key: 'click', value: 0.25 }]],
        recall_ranks: [3],
      },
      none,
    ];
    expect(await rowsOf(path, `${told} ORDER BY explore_seed`)).toEqual(both);
    await writer.tidy(BEGIN_MS + HOUR_MS);
    expect(recalls(path)).toEqual(['20261126T11.n.parquet']);
    expect(await rowsOf(path, `${told} ORDER BY explore_seed`)).toEqual(both);
    expect(await counted(path)).toEqual(allOf(5));
    await writer.close();
  });
});
