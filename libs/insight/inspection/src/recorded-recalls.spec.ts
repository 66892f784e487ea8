import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FactStoreOptions } from '@tessera/facts';
import { filesWith, seededRandom, temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { Pulse } from './domain/pulse.js';
import { partOf } from './domain/recall-summary.js';
import { type OpenedStore, openedStore } from './fixture/opened-store.js';
import { answer, ITEMS, REQUEST, recordable } from './fixture/recordable-recall.js';

const HOUR_MS = 3_600_000;
const SEED = 11;
const open: OpenedStore[] = [];
const folders: { remove: () => void }[] = [];

function freshFolder(): string {
  const folder = temporaryFolder({});
  folders.push(folder);
  return folder.path;
}

afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  for (const folder of folders.splice(0)) folder.remove();
});

async function storeIn(path: string, changes: Partial<FactStoreOptions> = {}) {
  const opened = await openedStore(path, {}, changes);
  open.push(opened);
  return opened;
}

const NEWEST = { order: 'time', offset: 0, limit: 100 } as const;

const QUERY = { rowsMax: 10, timeoutMs: 60_000 };

describe('recorded recalls', () => {
  it('gives back a recall as it was, also after a restart', async () => {
    const path = freshFolder();
    const { store } = await storeIn(path);
    const now = Date.now();
    store.offer(recordable('a', now));
    store.offer(
      recordable('b', now + 1, { outcome: { code: 'USER_NOT_FOUND', message: "no 'x'" } }),
    );
    await open.pop()?.close();
    const { store: again } = await storeIn(path);
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
    const { store } = await storeIn(freshFolder());
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
    const kept = await store.recall('v');
    expect(kept?.answer?.items).toEqual(items);
    expect(kept?.request.explore).toEqual({ slots: 1, seed: 7 });
    expect((await store.recall('p'))?.answer?.items).toEqual(ITEMS);
  });

  it('is read by SQL, but for what is sealed', async () => {
    const { store } = await storeIn(freshFolder());
    const remote = answer('request b');
    const kv = { ...remote.kv, tokensByTier: { device: 4, remote: 32 } };
    store.offer(recordable('b', Date.now(), { outcome: { answer: { ...remote, kv } } }));
    const rowsOf = async (text: string) =>
      JSON.parse(Buffer.from(await store.query(text, QUERY)).toString()).rows;
    const sql =
      'SELECT kv_device_tokens, map_keys(kv_tokens), map_values(kv_tokens), search, certified, ' +
      "gap, rows, scene['hour'], user_hash > 0, adapter FROM recalls";
    const tiers = [4, ['device', 'remote'], [4, 32]];
    expect(await rowsOf(sql)).toEqual([[...tiers, 'beam', false, -0.875, 5, '12', true, '']]);
    const [first, second] = ITEMS as [(typeof ITEMS)[number], (typeof ITEMS)[number]];
    const items = 'SELECT recall, rank, item_id, sid, score, title, value, heads FROM items';
    expect(await rowsOf(`${items} ORDER BY rank`)).toEqual([
      ['b', 1, first.itemId, '4-1', -0.5, first.title, null, null],
      ['b', 2, second.itemId, '4-2', -0.75, '', null, null],
    ]);
  });

  it('lists the newest first, by user, item, outcome and time', async () => {
    const { store } = await storeIn(freshFolder());
    for (let i = 0; i < 10; i++) {
      const request = { ...REQUEST, userId: `u${i % 2}` };
      store.offer(recordable(`r${i}`, 1e12 + i, { request }));
    }
    store.offer(recordable('bad', 1e12 + 10, { outcome: { code: 'CANCELLED', message: '' } }));
    const ids = async (filter: object) =>
      (await store.recalls({ ...NEWEST, ...filter })).map(({ id }) => id);
    expect(await ids({ limit: 3 })).toEqual(['bad', 'r9', 'r8']);
    expect(await ids({ userId: 'u1' })).toEqual(['r9', 'r7', 'r5', 'r3', 'r1']);
    expect(await ids({ itemId: 'é"1', beforeMs: 1e12 + 2 })).toEqual(['r1', 'r0']);
    expect(await ids({ itemId: 'never' })).toEqual([]);
    expect(await ids({ code: 'CANCELLED' })).toEqual(['bad']);
    expect(await ids({ requestId: 'request r4', fromMs: 1e12 })).toEqual(['r4']);
    expect(await ids({ userId: "' OR 1=1 --" })).toEqual([]);
  });

  it('has parts of the lists of several stores as one store has them', async () => {
    const { store } = await storeIn(freshFolder());
    const random = seededRandom(SEED);
    const below = (end: number) => Math.floor(random() * end);
    for (let i = 0; i < 60; i++) {
      const { timings, ...rest } = answer(`request r${i}`);
      const took = Object.assign(rest, { timings: { ...timings, totalUs: 1 + below(4) } });
      const refused = { code: 'CANCELLED' as const, message: '' };
      const outcome = below(4) === 0 ? refused : { answer: took };
      store.offer(recordable(`r${i}`, 1e12 + below(5), { outcome }));
    }
    const limit = 7;
    for (const order of ['time', 'slowest', 'fastest'] as const) {
      const all = await store.recalls({ order, offset: 0, limit: 100 });
      expect(all).toHaveLength(60);
      const lists: (typeof all)[number][][] = [[], [], []];
      for (const recall of all) lists[below(3)]?.push(recall);
      for (let offset = 0; offset < 60; offset += limit) {
        const one = await store.recalls({ order, offset, limit });
        const firsts = lists.map((list) => list.slice(0, offset + limit)).reverse();
        const where = `seed ${SEED}, ${order} from ${offset}`;
        expect(partOf(firsts, { order, offset, limit }), where).toEqual(one);
      }
    }
  });

  it('finds a recall by its request at once, also where somebody has just looked', async () => {
    const { store } = await storeIn(freshFolder());
    expect(await store.recalls(NEWEST)).toEqual([]);
    store.offer(recordable('a', Date.now()));
    const found = await store.recalls({ ...NEWEST, requestId: 'request a' });
    expect(found.map(({ id }) => id)).toEqual(['a']);
  });

  it('fills a list past recalls of users who were erased', async () => {
    const { store } = await storeIn(freshFolder());
    for (let i = 0; i < 12; i++) {
      const request = { ...REQUEST, userId: i < 8 ? 'erased' : 'other' };
      store.offer(recordable(`r${i}`, 1e12 - i, { request }));
    }
    expect(await store.eraseUser('erased')).toBe(8);
    const list = await store.recalls({ ...NEWEST, limit: 3 });
    expect(list.map(({ id, userId }) => [id, userId])).toEqual([
      ['r8', 'other'],
      ['r9', 'other'],
      ['r10', 'other'],
    ]);
    expect(await store.recall('r0')).toBeUndefined();
    expect(await store.recalls({ ...NEWEST, userId: 'erased' })).toEqual([]);
  });

  it('drops and counts what its queue has no room for', async () => {
    const { store, facts, outcomes } = await storeIn(freshFolder(), { queueMax: 5 });
    const taken = Array.from({ length: 8 }, (_, i) => store.offer(recordable(`r${i}`, i)));
    expect(taken).toEqual([true, true, true, true, true, false, false, false]);
    await facts.flush();
    expect(outcomes).toEqual({ dropped: 3, written: 5 });
    expect(await store.state()).toMatchObject({ recalls: 5, items: 10, written: 5, dropped: 3 });
  });

  it('keeps notes and sets, and forgets a user', async () => {
    const { store } = await storeIn(freshFolder());
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
    expect(await store.recall('a')).toBeUndefined();
  });

  it('leaves no byte of an erased user and of the work of analysts with them', async () => {
    const path = freshFolder();
    const { store, facts } = await storeIn(path);
    const name = 'unmistakable-alice@example.com';
    const request = { ...REQUEST, userId: name, profile: { mail: name } };
    store.offer(recordable('a', 1e12, { request }));
    store.offer(recordable('b', 1e12, { outcome: { code: 'X', message: name }, request }));
    await facts.flush();
    await store.shelf.addNote({ id: 'n', recallId: 'a', timeMs: 1, author: 'it', text: name });
    const told = { title: '', userCount: 1, overlap: 0, detail: name };
    const compared = { id: 'c', timeMs: 1, author: 'it', userIds: [name], ...told };
    await store.shelf.saveComparison(compared);
    expect((await store.recall('b'))?.message).toBe(name);
    expect(filesWith(path, name)).toHaveLength(2);
    expect(await store.eraseUser(name)).toBe(2);
    expect(filesWith(path, name)).toEqual([]);
    expect(await store.recall('a')).toBeUndefined();
    await open.pop()?.close();
    const { store: again } = await storeIn(path);
    expect(await again.shelf.notes('a')).toEqual([]);
    expect(await again.recalls(NEWEST)).toEqual([]);
  });

  it('keeps what became of the catalogues and the service, until it is too old', async () => {
    const now = Date.now();
    const { store, facts } = await storeIn(freshFolder(), { keepMs: HOUR_MS });
    const change = (sequence: number, timeMs: number) => ({
      timeMs,
      catalogue: '',
      sequence,
      changeCount: 2,
      source: "console: O'Neil",
      ops: { pause: 1, upsert: 1 },
      told: [{ op: 'pause', itemId: '"a"' }],
    });
    const [before, newer] = [change(2, now - 60_000), change(4, now)];
    for (const one of [before, newer]) expect(store.offerChange(one)).toBe(true);
    const pulse = { timeMs: now, seconds: 5, answered: 1 } as Pulse;
    store.offerPulse(pulse);
    expect(await store.changes(10)).toEqual([newer, before]);
    expect(await store.changes(1)).toEqual([newer]);
    await facts.flush();
    expect(await store.pulses(now)).toEqual([pulse]);
    expect(await store.pulses(now + 1)).toEqual([]);
    await facts.tidy(now + 3 * HOUR_MS);
    expect(await store.changes(10)).toEqual([]);
  });

  it('starts over whatever is left in the folder of queries', async () => {
    const path = freshFolder();
    mkdirSync(join(path, 'queries', 'a folder', 'in it'), { recursive: true });
    writeFileSync(join(path, 'queries', 'a folder', 'file'), 'x');
    await storeIn(path);
    expect(readdirSync(join(path, 'queries'))).toEqual([]);
  });

  it('records on in another process when the one that writes is killed', async () => {
    const changes = { queueMax: 20, onFault: () => undefined };
    const { store, facts, outcomes } = await storeIn(freshFolder(), changes);
    store.offer(recordable('before', 1e12));
    await facts.flush();
    process.kill(facts.processId as number, 'SIGKILL');
    await until(() => facts.condition() !== '');
    const taken = Array.from({ length: 30 }, (_, i) => store.offer(recordable(`r${i}`, 1e12 + i)));
    expect(taken.filter(Boolean)).toHaveLength(20);
    await until(() => facts.condition() === '');
    await facts.flush();
    expect(outcomes).toEqual({ written: 21, dropped: 10 });
    expect((await store.state()).recalls).toBe(21);
  });

  it('keeps nothing that was offered before an erasure, also when its process dies', async () => {
    const { store, facts } = await storeIn(freshFolder(), { onFault: () => undefined });
    const of = (userId: string) => ({ request: { ...REQUEST, userId } });
    process.kill(facts.processId as number, 'SIGKILL');
    await until(() => facts.condition() !== '');
    store.offer(recordable('gone', 1e12, of('erased')));
    store.offer(recordable('stays', 1e12, of('other')));
    // Refused, and to be repeated; rows that wait are given up all the same.
    await expect(store.eraseUser('erased')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    store.offer(recordable('later', 1e12, of('erased')));
    await until(() => facts.condition() === '');
    await facts.flush();
    const ids = async () => (await store.recalls(NEWEST)).map(({ id }) => id).sort();
    expect(await ids()).toEqual(['later', 'stays']);
    expect(await store.eraseUser('erased')).toBe(1);
    expect(await ids()).toEqual(['stays']);
  });
});

/** Looked at on each turn of the event loop: only its events show the state of a process. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
