import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { DuckDbInspectionStore, type DuckDbStoreOptions } from './adapters/duckdb-store.js';
import type { RecordableRecall } from './domain/recordable.js';

const HOUR_MS = 3_600_000;
const LIMITS = { rowsMax: 1000, timeoutMs: 20_000 };
const open: DuckDbInspectionStore[] = [];
const folders: { remove: () => void }[] = [];

const VERSIONS = {
  ...{ model: 'm', catalogue: 'c', catalogueSequence: 3, promptTemplate: 't' },
  ...{ adapter: '', adapterName: '' },
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

async function storeIn(path: string, changes: Partial<DuckDbStoreOptions> = {}) {
  const store = await DuckDbInspectionStore.open({
    path,
    memoryBytes: 2 ** 28,
    queueMax: 1000,
    retention: { ageMsMax: HOUR_MS, bytesMax: 2 ** 30 },
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

function answer(requestId: string): RecallAnswer {
  return {
    requestId,
    items: [
      { itemId: 'é"1', sid: [4, 1], score: -0.5, rank: 1, title: 'one "quoted" \\ title' },
      { itemId: '2', sid: [4, 2], score: -0.75, rank: 2, title: '' },
    ],
    short: false,
    completeness: 'whole',
    widthsUsed: [3, 2],
    itemPolicy: {
      orderBy: '',
      diversity: [],
      itemsPerSid: 1,
      resultCount: 2,
      leftOutByDiversity: 0,
    },
    historyItems: 1,
    trimmedItems: 0,
    skippedItems: 0,
    promptTokens: 9,
    prefixReusedTokens: 0,
    kv: {
      deviceTokens: 4,
      hostTokens: 0,
      diskTokens: 0,
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
    const { requestId, sight, ...told } = answer('request a');
    expect(kept).toMatchObject({ id: 'a', timeMs: now, requestId, request: REQUEST, code: 'OK' });
    expect(kept?.answer).toMatchObject({ ...told, history: sight?.history, profile: { age: '3' } });
    expect(kept?.answer?.tree).toMatchObject([
      { step: 0, parent: -1, code: 4, goesOn: true, endsHere: true, items: 2 },
      { step: 0, parent: -1, code: 5, goesOn: false, endsHere: false, items: 1 },
    ]);
    const failed = await again.recall('b');
    expect(failed).toMatchObject({ code: 'USER_NOT_FOUND', message: "no 'x'", requestId: 'asked' });
    expect(failed?.answer).toBeUndefined();
    expect(await again.recall('c')).toBeUndefined();
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

  it('removes what is too old, and the oldest part of a store that is too large', async () => {
    const now = Date.now();
    const rules = { ageMsMax: HOUR_MS, bytesMax: 2 ** 30 };
    const store = await storeIn(freshFolder(), { retention: rules });
    for (let i = 0; i < 20; i++) store.offer(recordable(`r${i}`, now - i * 600_000));
    await store.settled();
    await store.retain(now);
    expect((await store.recalls({ limit: 100 })).map(({ id }) => id)).toEqual(
      Array.from({ length: 7 }, (_, i) => `r${i}`),
    );
    Object.assign(rules, { bytesMax: 1 });
    await store.retain(now);
    expect((await store.state()).recalls).toBeLessThanOrEqual(1);
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
      ...{ id: 'c', timeMs: 1e12, author: 'it', title: 'a <b>', userCount: 2, overlap: 0.5 },
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
      ...{ timeMs, catalogue: '', sequence, changeCount: 2, source: "console: O'Neil" },
      ...{ ops: { pause: 1, upsert: 1 }, told: [{ op: 'pause', itemId: '"a"' }] },
    });
    const [old, newer] = [change(2, now - 2 * HOUR_MS), change(4, now)];
    for (const one of [old, newer]) expect(store.offerChange(one)).toBe(true);
    await store.settled();
    expect(await store.changes(10)).toEqual([newer, old]);
    expect(await store.changes(1)).toEqual([newer]);
    await store.retain(now);
    expect(await store.changes(10)).toEqual([newer]);
  });

  it('is not opened where it is no database, and says why', async () => {
    const path = freshFolder();
    writeFileSync(join(path, 'inspection.duckdb'), 'something else'.repeat(1000));
    await expect(storeIn(path)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

describe('questions of analysts', () => {
  it('are answered with columns and rows, cut where there are more', async () => {
    const store = await storeIn(freshFolder());
    store.offer(recordable('a', 1e12));
    await store.settled();
    const asked = 'SELECT rank, item_id, sid FROM items ORDER BY rank -- all of them;';
    const told = await store.query(asked, LIMITS);
    expect(told.columns.map(({ name }) => name)).toEqual(['rank', 'item_id', 'sid']);
    expect(told.rows).toEqual([
      [1, 'é"1', '4-1'],
      [2, '2', '4-2'],
    ]);
    const cut = await store.query('FROM range(100)', { ...LIMITS, rowsMax: 7 });
    expect([cut.rows.length, cut.isCut]).toEqual([7, true]);
  });

  it('refuse whatever does more than read, and what is no SQL', async () => {
    const store = await storeIn(freshFolder());
    const refusals: readonly (readonly [string, string])[] = [
      ['DELETE FROM recalls', 'expected a SELECT, came DELETE'],
      ['SELECT 1; DROP TABLE recalls', 'came 2 statements'],
      ["COPY (SELECT 1) TO '/tmp/out.csv'", 'sql:'],
      ["SELECT * FROM read_csv('/etc/passwd')", 'file system operations are disabled'],
      ["SELECT * FROM glob('/*')", 'file system operations are disabled'],
      ['SET threads = 8', 'expected a SELECT'],
      ["ATTACH '/tmp/other.db'", 'sql:'],
      ['INSERT INTO notes VALUES (1)', 'sql:'],
      ['', 'came nothing'],
      ['SELEC 1', 'syntax error'],
      ['SELECT 1) TO x (FORMAT csv); --', 'syntax error'],
      ['-'.repeat(20_001), 'at most 20000 characters'],
    ];
    for (const [sql, reason] of refusals) {
      const refused = { code: 'REQUEST_INVALID', message: expect.stringContaining(reason) };
      await expect(store.query(sql, LIMITS)).rejects.toMatchObject(refused);
      await expect(store.exportTo(sql, 'csv', LIMITS)).rejects.toMatchObject(refused);
    }
  });

  it('end when their time is over', async () => {
    const store = await storeIn(freshFolder());
    const endless = 'SELECT count(*) FROM range(1000000) a, range(1000000) b';
    await expect(store.query(endless, { ...LIMITS, timeoutMs: 50 })).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    expect((await store.query('SELECT 1', LIMITS)).rows).toEqual([[1]]);
  });

  it('are exported as CSV and Parquet', async () => {
    const store = await storeIn(freshFolder());
    const sql = 'SELECT range AS n FROM range(3)';
    const csv = await store.exportTo(sql, 'csv', LIMITS);
    expect(readFileSync(csv, 'utf8')).toBe('n\n0\n1\n2\n');
    const parquet = await store.exportTo(sql, 'parquet', LIMITS);
    expect(readFileSync(parquet).subarray(0, 4).toString()).toBe('PAR1');
    expect(existsSync(parquet)).toBe(true);
  });
});
