import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { RecordableRecall } from './domain/recordable.js';
import { ChildInspectionStore, type ChildStoreOptions } from './outside/child-inspection-store.js';
import { TABLE_DEFINITIONS } from './outside/duckdb-tables.js';

const HOUR_MS = 3_600_000;
/** Built; what is tested here is on both sides of its channel. */
const PROGRAM = join(import.meta.dirname, '../../../../dist/apps/inspection/src/main.js');
const open: ChildInspectionStore[] = [];
const folders: { remove: () => void }[] = [];

const VERSIONS = {
  model: 'm',
  catalogue: 'c',
  catalogueSequence: 3,
  promptTemplate: 't',
  adapter: '',
  adapterName: '',
  node: '',
};

function freshFolder(): string {
  const folder = temporaryFolder({});
  folders.push(folder);
  return folder.path;
}

afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  for (const folder of folders.splice(0)) folder.remove();
});

async function storeIn(path: string, changes: Partial<ChildStoreOptions> = {}) {
  const store = await ChildInspectionStore.open({
    program: PROGRAM,
    // The other tests have the cores as well.
    niceness: { recorder: 0, query: 0 },
    path,
    memoryBytes: 2 ** 28,
    queueMax: 1000,
    retention: { ageMsMax: HOUR_MS, bytesMax: 2 ** 30 },
    queries: {
      pagesMax: 2,
      sqlMax: 2,
      waitMs: 60_000,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 26,
      answerBytesMax: 2 ** 20,
    },
    onRecords: () => undefined,
    onFault: (thrown) => {
      throw thrown;
    },
    ...changes,
  });
  open.push(store);
  return store;
}

const REQUEST: RecallRequest = {
  requestId: 'asked',
  userId: "<b>O'Neil</b>",
  profile: {},
  scene: { hour: '12' },
  resultCount: 2,
  widths: [3],
  itemsPerSid: 1,
  skipUnknownItems: false,
};

const TREE = {
  cells: Uint32Array.of(0, 0xffff_ffff, 4, 3, 2, 0, 0xffff_ffff, 5, 0, 1),
  scores: Float32Array.of(-0.5, -2),
};

const ITEMS = [
  { itemId: 'é"1', sid: [4, 1], score: -0.5, rank: 1, title: 'one "quoted" \\ title' },
  { itemId: '2', sid: [4, 2], score: -0.75, rank: 2, title: '' },
].map((item) => ({ ...item, attributes: '' }));

const CERTIFICATE = { search: 'beam', certified: false, gap: -0.875, rows: 5 } as const;

function answer(requestId: string): RecallAnswer {
  return {
    requestId,
    items: ITEMS,
    short: false,
    completeness: 'whole',
    ...CERTIFICATE,
    widthsUsed: [3, 2],
    itemPolicy: {
      orderBy: '',
      diversity: [],
      itemsPerSid: 1,
      resultCount: 2,
      leftOutByDiversity: 0,
    },
    cappedItems: 0,
    unknownAttributes: [],
    historyItems: 1,
    trimmedItems: 0,
    skippedItems: 0,
    fallback: '',
    promptTokens: 9,
    prefixReusedTokens: 0,
    kv: {
      tokensByTier: { device: 4, host: 0, disk: 0 },
      sharedTokens: 0,
      computedTokens: 5,
      savedTokens: 4,
      lossy: false,
      inheritedTokens: 0,
      versionsBack: 0,
      waitUs: 0,
    },
    versions: VERSIONS,
    timings: {
      featuresUs: 1.5,
      promptUs: 2,
      queueUs: 3,
      planUs: 0,
      prefillUs: 4,
      decodeUs: 5,
      projectionsUs: 0,
      attentionUs: 0,
      headUs: 0,
      selectUs: 0,
      forkUs: 0,
      exportUs: 0,
      totalUs: 20.5,
    },
    sight: {
      history: [{ itemId: '9', sid: [0, 1], action: 'click', time: 5 }],
      profile: { age: '3' },
      tree: TREE,
    },
  };
}

const recordable = (id: string, timeMs: number, changes: Partial<RecordableRecall> = {}) => ({
  id,
  timeMs,
  source: 'served' as const,
  reason: 'share' as const,
  request: REQUEST,
  outcome: { answer: answer(`request ${id}`) },
  ...changes,
});

const QUERY = { rowsMax: 10, timeoutMs: 60_000 };

/** A store as one was before, with a recall of its day. */
async function withoutTokensByTier(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(join(path, 'inspection.duckdb'));
  const connection = await instance.connect();
  const [define] = TABLE_DEFINITIONS as [string];
  await connection.run(define.replace(/, kv_tokens .*\)$/, ')'));
  await connection.run("INSERT INTO recalls (id, kv_device_tokens) VALUES ('a', 8)");
  connection.closeSync();
  instance.closeSync();
}

describe('the inspection store', () => {
  it('gives back a recall as it was, also after a restart', async () => {
    const path = freshFolder();
    const store = await storeIn(path);
    const now = Date.now();
    store.offer(recordable('a', now));
    store.offer(
      recordable('b', now + 1, { outcome: { code: 'USER_NOT_FOUND', message: "no 'x'" } }),
    );
    await store.settled();
    await open.pop()?.close();
    const again = await storeIn(path);
    const kept = await again.recall('a');
    const { requestId, sight, ...rest } = answer('request a');
    expect(kept).toMatchObject({ id: 'a', timeMs: now, requestId, request: REQUEST, code: 'OK' });
    expect(kept?.answer).toMatchObject({ ...rest, history: sight?.history, profile: { age: '3' } });
    expect(kept?.answer?.tree).toMatchObject([
      { step: 0, parent: -1, code: 4, goesOn: true, endsHere: true, items: 2 },
      { step: 0, parent: -1, code: 5, goesOn: false, endsHere: false, items: 1 },
    ]);
    const failed = await again.recall('b');
    expect(failed).toMatchObject({ code: 'USER_NOT_FOUND', message: "no 'x'", requestId: 'asked' });
    expect(failed?.answer).toBeUndefined();
    expect(await again.recall('c')).toBeUndefined();
  });

  it('keeps values, heads and what was drawn, and the seed with which to ask again', async () => {
    const store = await storeIn(freshFolder());
    const [first, second] = ITEMS as [(typeof ITEMS)[number], (typeof ITEMS)[number]];
    const value = { value: 0.25, terms: { bid: 0.75 }, pace: 0.5, criticalBid: 0.125 };
    const worth = { value: 0.5, terms: { ctr: -0.5 }, pace: 1 };
    const ranking = { heads: { click: 0.0625 }, value: worth, recallRank: 7 };
    const items = [
      Object.assign({ value, explored: false, propensity: 1, ranking }, first),
      Object.assign(
        { value: { value: 0, terms: {}, pace: 1 }, explored: true, ranking: { heads: {} } },
        second,
      ),
    ];
    const exploration = { slots: 1, temperature: 1, seed: 7, noPropensities: 'stopped' };
    const explore = { slots: 1 };
    const outcome = { answer: Object.assign(answer('r'), { items, exploration }) };
    const request = Object.assign({ explore }, REQUEST);
    store.offer(recordable('v', Date.now(), { request, outcome }));
    store.offer(recordable('p', Date.now()));
    await store.settled();
    const kept = await store.recall('v');
    expect(kept?.answer?.items).toEqual(items);
    expect(kept?.request.explore).toEqual({ slots: 1, seed: 7 });
    expect((await store.recall('p'))?.answer?.items).toEqual(ITEMS);
  });

  it('has tokens by tier and certificates in a store from before their columns', async () => {
    const path = freshFolder();
    await withoutTokensByTier(path);
    const store = await storeIn(path);
    const remote = answer('request b');
    const kv = { ...remote.kv, tokensByTier: { device: 4, remote: 32 } };
    store.offer(recordable('b', Date.now(), { outcome: { answer: { ...remote, kv } } }));
    await store.settled();
    const sql =
      'SELECT id, kv_device_tokens AS device, map_keys(kv_tokens) AS tiers, ' +
      'map_values(kv_tokens) AS tokens FROM recalls ORDER BY id';
    const rowsOf = async (text: string) =>
      JSON.parse(Buffer.from(await store.query(text, QUERY)).toString()).rows;
    expect(await rowsOf(sql)).toEqual([
      ['a', 8, null, null],
      ['b', 4, ['device', 'remote'], [4, 32]],
    ]);
    expect(await rowsOf('SELECT search, certified, gap, rows FROM recalls ORDER BY id')).toEqual([
      [null, null, null, null],
      ['beam', false, -0.875, 5],
    ]);
  });

  it('lists the newest first, by user, item, outcome and time', async () => {
    const store = await storeIn(freshFolder());
    for (let i = 0; i < 10; i++) {
      const request = { ...REQUEST, userId: `u${i % 2}` };
      store.offer(recordable(`r${i}`, 1e12 + i, { request }));
    }
    store.offer(recordable('bad', 1e12 + 10, { outcome: { code: 'CANCELLED', message: '' } }));
    await store.settled();
    const ids = async (filter: object) =>
      (await store.recalls({ limit: 100, ...filter })).map(({ id }) => id);
    expect(await ids({ limit: 3 })).toEqual(['bad', 'r9', 'r8']);
    expect(await ids({ userId: 'u1' })).toEqual(['r9', 'r7', 'r5', 'r3', 'r1']);
    expect(await ids({ itemId: 'é"1', beforeMs: 1e12 + 2 })).toEqual(['r1', 'r0']);
    expect(await ids({ itemId: 'never' })).toEqual([]);
    expect(await ids({ code: 'CANCELLED' })).toEqual(['bad']);
    expect(await ids({ requestId: 'request r4', fromMs: 1e12 })).toEqual(['r4']);
    expect(await ids({ userId: "' OR 1=1 --" })).toEqual([]);
  });

  it('drops and counts what its queue has no room for', async () => {
    const outcomes: Record<string, number> = {};
    const store = await storeIn(freshFolder(), {
      queueMax: 5,
      onRecords: (outcome, count) => {
        outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
      },
    });
    const taken = Array.from({ length: 8 }, (_, i) => store.offer(recordable(`r${i}`, i)));
    expect(taken).toEqual([true, true, true, true, true, false, false, false]);
    await store.settled();
    expect(outcomes).toEqual({ dropped: 3, written: 5 });
    expect(await store.state()).toMatchObject({ recalls: 5, items: 10, written: 5, dropped: 3 });
  });

  it('writes nothing for a query that is refused, and all for one that runs', async () => {
    const bytes = { memoryBytes: 2 ** 28, diskBytes: 2 ** 26, answerBytesMax: 2 ** 20 };
    const queries = { pagesMax: 0, sqlMax: 0, waitMs: 1, ...bytes };
    const sql = 'SELECT count(*)::INTEGER FROM recalls';
    const full = await storeIn(freshFolder(), { queries });
    full.offer(recordable('r', 1));
    await expect(full.query(sql, QUERY)).rejects.toMatchObject({ code: 'OPERATION_BUSY' });
    expect(await full.state()).toMatchObject({ queued: 1, written: 0 });

    const store = await storeIn(freshFolder());
    store.offer(recordable('r', 1));
    const answer = Buffer.from(await store.query(sql, QUERY)).toString();
    expect(JSON.parse(answer).rows).toEqual([[1]]);
  });

  it('removes what is too old, and the oldest part of a store that is too large', async () => {
    const now = Date.now();
    const path = freshFolder();
    const store = await storeIn(path);
    for (let i = 0; i < 20; i++) store.offer(recordable(`r${i}`, now - i * 600_000));
    await store.settled();
    await store.retain(now);
    expect((await store.recalls({ limit: 100 })).map(({ id }) => id)).toEqual(
      Array.from({ length: 7 }, (_, i) => `r${i}`),
    );
    await open.pop()?.close();
    const small = await storeIn(path, { retention: { ageMsMax: HOUR_MS, bytesMax: 1 } });
    await small.retain(now);
    expect((await small.state()).recalls).toBeLessThanOrEqual(1);
  });

  it('keeps notes and sets, and forgets a user', async () => {
    const store = await storeIn(freshFolder());
    store.offer(recordable('a', 1e12));
    const { shelf } = store;
    const note = { id: 'n', recallId: 'a', timeMs: 1e12, author: 'it', text: "<i>it's</i>" };
    await shelf.addNote(note);
    expect(await shelf.notes('a')).toEqual([note]);
    expect([await shelf.removeNote('n'), await shelf.removeNote('n')]).toEqual([true, false]);
    const set = { name: 's', timeMs: 1e12, author: 'it', recallIds: ['a', "b'"] };
    await shelf.saveSet({ ...set, recallIds: [] });
    await shelf.saveSet(set);
    expect(await shelf.savedSets()).toEqual([set]);
    expect(await shelf.removeSet('s')).toBe(true);
    const compared = {
      id: 'c',
      timeMs: 1e12,
      author: 'it',
      title: 'a <b>',
      userCount: 2,
      overlap: 0.5,
      detail: '{"x":"\'"}',
    };
    const userIds = [REQUEST.userId as string, 'other'];
    await shelf.saveComparison({ ...compared, userIds });
    await shelf.saveComparison({ ...compared, id: 'd', userIds: ['other'] });
    expect(await shelf.comparison('c')).toEqual(compared);
    expect((await shelf.comparisons()).map(({ id }) => id)).toEqual(['c', 'd']);
    expect(await store.eraseUser(REQUEST.userId as string)).toBe(1);
    expect(await shelf.comparison('c')).toBeUndefined();
    expect([await shelf.removeComparison('d'), await shelf.removeComparison('d')]).toEqual([
      true,
      false,
    ]);
    expect(await store.state()).toMatchObject({ recalls: 0, items: 0 });
  });

  it('keeps what became of the catalogues, newest first, until it is too old', async () => {
    const now = Date.now();
    const store = await storeIn(freshFolder());
    const change = (sequence: number, timeMs: number) => ({
      timeMs,
      catalogue: '',
      sequence,
      changeCount: 2,
      source: "console: O'Neil",
      ops: { pause: 1, upsert: 1 },
      told: [{ op: 'pause', itemId: '"a"' }],
    });
    const [old, newer] = [change(2, now - 2 * HOUR_MS), change(4, now)];
    for (const one of [old, newer]) expect(store.offerChange(one)).toBe(true);
    await store.settled();
    expect(await store.changes(10)).toEqual([newer, old]);
    expect(await store.changes(1)).toEqual([newer]);
    await store.retain(now);
    expect(await store.changes(10)).toEqual([newer]);
  });

  it('is not opened where it is no database, says why, and is tried again', async () => {
    const path = freshFolder();
    const file = join(path, 'inspection.duckdb');
    writeFileSync(file, 'something else'.repeat(1000));
    const faults: unknown[] = [];
    const store = await storeIn(path, { onFault: (thrown) => faults.push(thrown) });
    expect(faults).toMatchObject([{ code: 'STORE_UNAVAILABLE' }]);
    expect(store.condition()).toMatchObject({ state: 'down', reason: expect.stringMatching(/./) });
    await expect(store.recalls({ limit: 1 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(store.eraseUser('u')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(store.offer(recordable('a', 1e12))).toBe(true);
    rmSync(file);
    await until(() => store.condition().state === 'ok');
    await store.settled();
    expect(await store.recall('a')).toMatchObject({ id: 'a' });
  });

  it('starts over whatever is left in the folder of queries', async () => {
    const path = freshFolder();
    mkdirSync(join(path, 'queries', 'a folder', 'in it'), { recursive: true });
    writeFileSync(join(path, 'queries', 'a folder', 'file'), 'x');
    mkdirSync(join(path, 'exports', 'duckdb_logs'), { recursive: true });
    const store = await storeIn(path);
    expect(store.condition()).toEqual({ state: 'ok', reason: '' });
  });

  it('records on in another process when the one that records is killed', async () => {
    const outcomes: Record<string, number> = {};
    const path = freshFolder();
    const store = await storeIn(path, {
      queueMax: 20,
      onFault: () => undefined,
      onRecords: (outcome, count) => {
        outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
      },
    });
    store.offer(recordable('before', 1e12));
    await store.settled();
    const first = store.recorderProcessId as number;
    process.kill(first, 'SIGKILL');
    await until(() => store.condition().state === 'down');
    const taken = Array.from({ length: 30 }, (_, i) => store.offer(recordable(`r${i}`, 1e12 + i)));
    expect(taken.filter(Boolean)).toHaveLength(20);
    await until(() => store.condition().state === 'ok');
    expect(store.recorderProcessId).not.toBe(first);
    await store.settled();
    expect(outcomes).toEqual({ written: 21, dropped: 10 });
    expect((await store.state()).recalls).toBe(21);
  });

  it('keeps nothing that was offered before an erasure, also when its process dies', async () => {
    const store = await storeIn(freshFolder(), { onFault: () => undefined });
    const of = (userId: string) => ({ request: { ...REQUEST, userId } });
    process.kill(store.recorderProcessId as number, 'SIGKILL');
    await until(() => store.condition().state === 'down');
    store.offer(recordable('gone', 1e12, of('erased')));
    store.offer(recordable('stays', 1e12, of('other')));
    // Refused, and to be repeated; what waits is given up all the same.
    await expect(store.eraseUser('erased')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.offer(recordable('later', 1e12, of('erased')));
    await until(() => store.condition().state === 'ok');
    await store.settled();
    expect((await store.recalls({ limit: 9 })).map(({ id }) => id).sort()).toEqual([
      'later',
      'stays',
    ]);
    expect(await store.eraseUser('erased')).toBe(1);
    expect((await store.recalls({ limit: 9 })).map(({ id }) => id)).toEqual(['stays']);
  });
});

/** Looked at on each turn of the event loop: only its events show the state of a process. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
