import { gzipSync } from 'node:zlib';
import { loadBehaviourStore, parseUsers } from '@tessera/behaviour';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

async function load(content: unknown) {
  const folder = temporaryFolder({ 'users.json': content });
  try {
    return await loadBehaviourStore(`${folder.path}/users.json`);
  } finally {
    folder.remove();
  }
}

describe('a file of users', () => {
  const behaviours = [
    { item_id: '7', action: 'click', time: 30 },
    { item_id: 8, time: 10 },
    { item_id: '9', action: 'view', time: 30 },
  ];

  it('gives behaviours in the order of time and the newest of them up to the limit', async () => {
    const store = await load({ u: { behaviours, profile: { age: 30, city: 'Ulm' } }, v: {} });
    const ids = async (limit: number) =>
      (await store.history('u', limit))?.map((behaviour) => behaviour.itemId);
    expect(await ids(9)).toEqual(['8', '7', '9']);
    expect(await ids(2)).toEqual(['7', '9']);
    expect(await ids(0)).toEqual([]);
    expect(await store.profile('u')).toEqual({ age: '30', city: 'Ulm' });
    expect(await store.history('v', 5)).toEqual([]);
    expect(await store.history('w', 5)).toBeNull();
    expect(await store.userIds(1)).toEqual(['u']);
    expect(store.userCount).toBe(2);
  });

  it('may be sequences of item IDs, and may be compressed', async () => {
    const store = await load(gzipSync(JSON.stringify({ '5': [3, 'x', 3] })));
    expect(await store.history('5', 9)).toEqual([
      { itemId: '3', action: '', time: 0 },
      { itemId: 'x', action: '', time: 0 },
      { itemId: '3', action: '', time: 0 },
    ]);
  });

  it.each([
    [[], 'users.json: expected an object, got an array'],
    [{ u: 3 }, 'users.json: u: expected an object, got 3'],
    [{ u: [1, null] }, 'users.json: u[1]: expected a string or an integer, got null'],
    [{ u: [2 ** 60] }, /u\[0\]: expected the ID as text/],
    [{ u: [1.5] }, /u\[0\]: expected a string or an integer/],
    [{ u: { behaviours: {} } }, 'users.json: u.behaviours: expected an array, got object'],
    [{ u: { clicks: [] } }, "users.json: u: expected the keys behaviours, profile, got 'clicks'"],
    [{ u: { behaviours: [{ item_id: '' }] } }, /u.behaviours\[0\].item_id: expected 1..1024/],
    [{ u: { behaviours: [{ item_id: '1', time: 'x' }] } }, /u.behaviours\[0\].time: expected sec/],
    [{ u: { profile: { a: [] } } }, /u.profile.a: expected a string, a number or a boolean/],
    [{ ['u'.repeat(257)]: [] }, /expected 1..256 characters, got 257/],
    ['{"u": [1', /users.json: expected JSON/],
    ['version https://git-lfs.github.com/spec/v1\noid sha256:0', /git lfs pull/],
    [Uint8Array.of(0x22, 0xff, 0x22), 'users.json: expected UTF-8, got other bytes'],
    [Uint8Array.of(0x1f, 0x8b, 1, 2), /users.json: expected gzip/],
  ])('%j is refused by its path', async (content, message) => {
    const refusal = expect(load(content)).rejects;
    await refusal.toThrow(message);
    await refusal.toMatchObject({ code: 'BEHAVIOUR_INVALID' });
  });

  it('loads or is refused by a typed error, whatever it holds', () => {
    const key = fc.constantFrom('behaviours', 'profile', 'item_id', 'action', 'time', 'u');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, -1, 0, 1.5, 1e300, '', 'x', '\ud800'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(value, (document) => {
        try {
          parseUsers(document, 'users.json');
        } catch (error) {
          expect(error).toBeInstanceOf(TesseraError);
        }
      }),
      { numRuns: 3000, verbose: 1 },
    );
  });
});

describe('sequences as the trainer writes them', () => {
  async function loadLines(...rows: readonly unknown[]) {
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    const folder = temporaryFolder({ 'sequences.jsonl': text });
    try {
      return await loadBehaviourStore(`${folder.path}/sequences.jsonl`);
    } finally {
      folder.remove();
    }
  }

  it('give the users, with times, actions and profiles', async () => {
    const times = [1_700_000_000, 1_700_000_000, 1_700_000_060.5];
    const store = await loadLines(
      { user: 'ada', history: ['a', 7], target: 'c', times, actions: ['click', '', 'buy'] },
      { user: 'ada', history: ['a'] },
      { user: 5, history: ['x'], profile: { city: 'Ulm' }, scenes: [{ page: 'home' }] },
    );
    expect(await store.history('ada', 9)).toEqual([
      { itemId: 'a', action: 'click', time: times[0] },
      { itemId: '7', action: '', time: times[1] },
      { itemId: 'c', action: 'buy', time: times[2] },
    ]);
    expect(await store.history('5', 9)).toEqual([{ itemId: 'x', action: '', time: 0 }]);
    expect(await store.profile('5')).toEqual({ city: 'Ulm' });
    expect(store.userCount).toBe(2);
  });

  it.each([
    [{ user: 'a' }, 'sequences.jsonl: lines[1].history: expected an array, got undefined'],
    [{ user: 'a', history: ['x'], clicks: 1 }, /lines\[1\]: expected the keys user, .*'clicks'/],
    [{ user: 'a', history: ['x'], times: [] }, /lines\[1\].times: expected 1 entries, one per/],
    [{ user: 'a', history: ['x', 'y'], times: [2, 1] }, /times\[1\]: expected times in order/],
    [{ user: 'a', history: ['x'], times: [1.7e12] }, /time: .*which looks like milliseconds/],
    [{ user: 'a', history: [653247040368672800] }, /expected the ID as text/],
    ['no JSON', /lines\[1\]: expected an object, got no JSON/],
  ])('are refused with line and member: %j', async (row, message) => {
    await expect(loadLines(row)).rejects.toThrow(message);
  });
});
