/** Facts over both ends of their channel: what is on disk whatever happens. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { TesseraError } from '@tessera/errors';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import { temporaryFolder, until } from '@tessera/testing';
import { afterEach, expect, it } from 'vitest';
import { ItemFeed } from './item-feed.js';
import { ChildFactStore, type FactStoreOptions } from './outside/child-fact-store.js';
import { viewStatements } from './outside/fact-views.js';

const PROGRAM = join(import.meta.dirname, '../../../../dist/apps/inspection/src/main.js');
const BEGIN_MS = Date.UTC(2026, 10, 26, 11, 5);
const open: ChildFactStore[] = [];
const folders: { remove: () => void }[] = [];

afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  for (const folder of folders.splice(0)) folder.remove();
});

function freshFolder(): string {
  const folder = temporaryFolder({});
  folders.push(folder);
  return folder.path;
}

async function storeIn(path: string, changes: Partial<FactStoreOptions> = {}) {
  const counts = { written: 0, dropped: 0, failed: 0 };
  const store = await ChildFactStore.open({
    program: [PROGRAM, 'facts', '0'],
    path,
    node: 'n1',
    memoryBytes: 2 ** 28,
    keepMs: 1e15,
    keepBytes: 2 ** 40,
    fileRowsMax: 50_000,
    waitingRowsMax: 200_000,
    graceMs: 0,
    queueMax: 20_000,
    onFacts: (outcome, count) => {
      counts[outcome] += count;
    },
    onFault: () => undefined,
    ...changes,
  });
  open.push(store);
  return { store, counts };
}

const REQUEST: RecallRequest = {
  requestId: 'asked',
  userId: "<b>O'Neil</b>",
  profile: {},
  scene: { daypart: 'noon', 'a"b': "c'd" },
  resultCount: 2,
  widths: [],
  itemsPerSid: 1,
  skipUnknownItems: false,
};

const ANSWER = {
  requestId: 'asked',
  items: [
    { itemId: 'é"1', sid: [4, 1], score: -0.501, rank: 1, title: '', attributes: '' },
    { itemId: '2', sid: [4, 2], score: -0.75, rank: 2, title: '', attributes: '' },
  ],
  arm: 'canary',
  short: false,
  widthsUsed: [3, 3],
  versions: {
    model: 'm',
    catalogue: 'c',
    catalogueSequence: 3,
    promptTemplate: 't',
    adapter: 'a',
    adapterName: 'name',
    node: '',
  },
  kv: { tokensByTier: { device: 1, host: 2, disk: 3 }, sharedTokens: 4, computedTokens: 5 },
  timings: { featuresUs: 1, promptUs: 2, queueUs: 3, prefillUs: 4, decodeUs: 5.4, totalUs: 15 },
} as unknown as RecallAnswer;

function recall(userId: string, at = 0, outcome: RecallAnswer | Error = ANSWER) {
  const request = { ...REQUEST, userId };
  return { timeMs: BEGIN_MS + at, edge: 'grpc', request, outcome };
}

async function rowsOf(path: string, sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const statement of viewStatements(path, ['daypart'])) await connection.run(statement);
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  connection.closeSync();
  instance.closeSync();
  return rows as Record<string, unknown>[];
}

it('writes answered and refused recalls, and behaviours, with all that they have', async () => {
  const path = freshFolder();
  const { store, counts } = await storeIn(path);
  store.offerRecall(recall('u1'));
  store.offerRecall(recall('u1', 1, new TesseraError('DEADLINE_EXCEEDED', 'late')));
  const said = { itemId: '2', action: 'click', timeMs: BEGIN_MS, scene: { a: 'b' } };
  store.offerBehaviours([
    { ...said, userId: 'u1', requestId: 'asked', position: 2 },
    { ...said, userId: 'u2' },
  ]);
  await store.flush();
  expect(counts).toEqual({ written: 4, dropped: 0, failed: 0 });
  const [answered, refused] = await rowsOf(path, 'SELECT * FROM recall_fact ORDER BY time');
  expect(answered).toMatchObject({
    time: '2026-11-26 11:05:00',
    request_id: 'asked',
    node: 'n1',
    edge: 'grpc',
    catalogue: '',
    model: 'm',
    adapter: 'a',
    adapter_name: 'name',
    arm: 'canary',
    catalogue_seq: '3',
    template: 't',
    code: 'OK',
    predicate_id: '',
    widths: [3, 3],
    short: false,
    decode_us: 5,
    kv_disk: 3,
    item_ids: ['é"1', '2'],
    scores: [-0.5, -0.75],
    scene_daypart: 'noon',
  });
  expect(refused).toMatchObject({ code: 'DEADLINE_EXCEEDED', item_ids: [], model: '', arm: '' });
  expect(refused?.recall_id).not.toBe(answered?.recall_id);
  const done = await rowsOf(path, 'SELECT * FROM behaviour ORDER BY position DESC');
  expect(done).toMatchObject([
    { request_id: 'asked', position: 2, action: 'click', user_hash: answered?.user_hash },
    { request_id: '', position: 0 },
  ]);
  expect(done[1]?.user_hash).not.toBe(answered?.user_hash);
  expect(await store.pseudonym('u1')).toBe(answered?.user_hash);
});

it('keeps files whole over a kill -9, and loses what was not in a file', async () => {
  const path = freshFolder();
  const { store } = await storeIn(path);
  for (let at = 0; at < 100; at++) store.offerRecall(recall(`u${at}`, at));
  await store.flush();
  store.offerRecall(recall('late', 200));
  process.kill(store.processId ?? 0, 'SIGKILL');
  await expect.poll(() => store.condition(), { timeout: 30_000 }).not.toBe('');
  await expect.poll(() => store.condition(), { timeout: 30_000 }).toBe('');
  store.offerRecall(recall('again', 300));
  await store.flush();
  const [row] = await rowsOf(path, 'SELECT count(*)::INTEGER AS n FROM recall_fact');
  expect(Number(row?.n)).toBeGreaterThanOrEqual(101);
  const left = readdirSync(join(path, 'recall_fact'));
  expect(left.every((file) => file.endsWith('.n1.parquet'))).toBe(true);
});

it('counts what a disk that takes nothing loses, and goes on when it takes again', async () => {
  const path = freshFolder();
  const first = await storeIn(path);
  await first.store.flush();
  await first.store.close();
  open.splice(0);
  // No file may be larger, as on a full disk; the database of pseudonyms is larger already.
  const { store, counts } = await storeIn(path, { fileBytesMax: 512, waitingRowsMax: 3 });
  for (let at = 0; at < 3; at++) store.offerRecall(recall('', at));
  await store.flush();
  expect(store.condition()).not.toBe('');
  store.offerRecall(recall('', 9));
  await store.flush();
  expect(counts.failed).toBeGreaterThan(0);
  expect(counts.written + counts.failed).toBe(4);
  expect((await store.state()).lost).toMatchObject([{ table: 'recall_fact', rows: counts.failed }]);
  expect(existsSync(join(path, 'recall_fact'))).toBe(true);
});

it('links nothing to a user who was erased, and gives a new pseudonym afterwards', async () => {
  const path = freshFolder();
  const { store } = await storeIn(path);
  store.offerRecall(recall('gone', 1));
  await store.flush();
  const before = await store.pseudonym('gone');
  // One waits while the user is erased.
  store.offerRecall(recall('gone', 2));
  await store.eraseUser('gone');
  expect(await store.pseudonym('gone')).toBeUndefined();
  store.offerRecall(recall('gone', 3));
  await store.flush();
  const rows = await rowsOf(path, 'SELECT user_hash FROM recall_fact ORDER BY time');
  const [old, waited, later] = rows.map((row) => row.user_hash);
  expect([old, waited]).toEqual([before, '0']);
  expect(later).not.toBe(before);
  expect(await store.pseudonym('gone')).toBe(later);
});

it('merges hours and days into one file each, and counts their items once', async () => {
  const path = freshFolder();
  const { store } = await storeIn(path);
  for (let at = 0; at < 3; at++) {
    store.offerRecall(recall('u', at));
    await store.flush();
  }
  expect(readdirSync(join(path, 'recall_fact'))).toHaveLength(3);
  const HOUR_MS = 3_600_000;
  await store.tidy(Date.now() + HOUR_MS);
  await store.tidy(Date.now() + HOUR_MS);
  expect(readdirSync(join(path, 'recall_fact'))).toHaveLength(1);
  await store.tidy(Date.now() + 25 * HOUR_MS);
  await store.tidy(Date.now() + 25 * HOUR_MS);
  const [file = ''] = readdirSync(join(path, 'recall_fact'));
  expect(file).toMatch(/^\d{8}\.n1\.parquet$/);
  const counted = await rowsOf(path, 'SELECT item_id, recalls, rank_sum FROM item_hour ORDER BY 1');
  expect(counted).toEqual([
    { item_id: '2', recalls: '3', rank_sum: '6' },
    { item_id: 'é"1', recalls: '3', rank_sum: '3' },
  ]);
  await store.tidy(Date.now() + 1e6 * HOUR_MS);
});

const item = (itemId: string, price: number, isPaused = false) => ({
  itemId,
  title: `title ${itemId}`,
  priority: 0,
  isPaused,
  sid: [1, 2],
  attributes: JSON.stringify({ price }),
});

it('tells every change of a batch, and what the items were between changes', async () => {
  const path = freshFolder();
  const { store } = await storeIn(path);
  const items = new Map([
    ['a', item('a', 1)],
    ['b', item('b', 1)],
  ]);
  let sequence = 5;
  const stateOf = (id: string) => items.get(id) ?? { ...item(id, 0, true), title: '', sid: [] };
  const feed = new ItemFeed({
    store,
    nowMs: () => BEGIN_MS + sequence,
    onFault: (thrown) => {
      throw thrown;
    },
    catalogue: {
      name: '',
      changes: {
        listItems: async () => ({ sequence, pages: [[...items.values()]] }),
        items: {
          pin: () => ({ sequence, of: (ids: readonly string[]) => ids.map(stateOf) }),
        } as never,
      },
    },
  });
  feed.start();
  await feed.settled();
  const many = Array.from({ length: 300 }, (_, index) => `m${index}`);
  for (const id of many) items.set(id, item(id, 2));
  items.set('a', item('a', 9));
  items.delete('b');
  sequence = 310;
  const changes = [...many, 'a', 'b'].map((itemId) => ({ op: 'upsert' as const, itemId }));
  const batch = { sequence, changeCount: 302, ops: { upsert: 302 }, told: [], source: 'test' };
  feed.applied({ ...batch, messages: [changes.slice(0, 100), changes.slice(100)] });
  await feed.settled();
  await store.flush();
  const [count] = await rowsOf(path, 'SELECT count(DISTINCT item_id)::INTEGER AS n FROM change');
  expect(count?.n).toBe(302);
  const now = "SELECT from_seq, live FROM item_now WHERE item_id IN ('a', 'b') ORDER BY item_id";
  expect(await rowsOf(path, now)).toEqual([
    { from_seq: '310', live: true },
    { from_seq: '310', live: false },
  ]);
  const versions = await rowsOf(
    path,
    'SELECT item_id, from_seq, least(to_seq, 999) AS until, live, attributes, title ' +
      "FROM item_version WHERE item_id IN ('a', 'b') ORDER BY 1, 2",
  );
  expect(versions).toEqual([
    {
      item_id: 'a',
      from_seq: '5',
      until: '310',
      live: true,
      attributes: '{"price":1}',
      title: 'title a',
    },
    {
      item_id: 'a',
      from_seq: '310',
      until: '999',
      live: true,
      attributes: '{"price":9}',
      title: 'title a',
    },
    {
      item_id: 'b',
      from_seq: '5',
      until: '310',
      live: true,
      attributes: '{"price":1}',
      title: 'title b',
    },
    {
      item_id: 'b',
      from_seq: '310',
      until: '999',
      live: false,
      attributes: '{"price":1}',
      title: 'title b',
    },
  ]);
});

it('writes at its end what a process that was stopped for a while still waits with', async () => {
  const path = freshFolder();
  const { store } = await storeIn(path);
  const pid = store.processId ?? 0;
  process.kill(pid, 'SIGSTOP');
  for (let at = 0; at < 60; at++) store.offerRecall(recall(`u${at}`, at));
  const closed = store.close(60_000);
  process.kill(pid, 'SIGCONT');
  await closed;
  const [row] = await rowsOf(path, 'SELECT count(*)::INTEGER AS n FROM recall_fact');
  expect(Number(row?.n)).toBe(60);
  expect((await storeIn(path)).counts.dropped).toBe(0);
});

it('says what a silent process loses, and the next start counts it', async () => {
  const path = freshFolder();
  const faults: string[] = [];
  const { store, counts } = await storeIn(path, {
    onFault: (thrown) => faults.push(String(thrown)),
  });
  store.offerRecall(recall('u1', 1));
  store.offerRecall(recall('u2', 2));
  await until('two rows wait in the process', () => counts.written === 2);
  process.kill(store.processId ?? 0, 'SIGSTOP');
  store.offerRecall(recall('u3', 3));
  await store.close(600);
  expect(faults.at(-1)).toContain('3 rows lost');
  const next = await storeIn(path);
  expect(next.counts.dropped).toBe(3);
  expect((await next.store.state()).lost).toMatchObject([{ table: 'recall_fact', rows: 3 }]);
  expect((await storeIn(path)).counts.dropped).toBe(0);
});
