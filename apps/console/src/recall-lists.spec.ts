import { expect, it } from 'vitest';
import type { ConsoleParts } from './console-parts.js';
import { RecallLists } from './recall-lists.js';
import type { Recorded } from './recorded.js';

const SEARCH = { order: 'time', offset: 0, limit: 50 } as const;
const USERS = ['ann', 'bob', 'ann'];

/** Lists over a store of three recalls, and which of them were read. */
function lists() {
  const reads: string[] = [];
  const erased: ((userId: string) => void)[] = [];
  const atRead: (() => void)[] = [];
  const recalls = USERS.map((userId, index) => ({ id: `${index}`, timeMs: index, userId }));
  const store = {
    settled: async () => undefined,
    recalls: async () => recalls,
    recall: async (id: string) => {
      reads.push(id);
      for (const act of atRead.splice(0)) act();
      const { userId, timeMs } = recalls[Number(id)] ?? { userId: '', timeMs: 0 };
      return { id, timeMs, request: { userId, scene: { of: userId } } };
    },
    onErasure: (listener: (userId: string) => void) => erased.push(listener),
  };
  const parts = { store } as unknown as ConsoleParts;
  const made = new RecallLists(parts, { store } as unknown as Recorded);
  const erase = (userId: string) => {
    for (const listener of erased) listener(userId);
  };
  /** IDs that a list reads from the store. */
  const readBy = async () => {
    reads.length = 0;
    const listed = await made.list(SEARCH, '');
    expect(listed.map(({ scene }) => scene)).toEqual(USERS.map((of) => ({ of })));
    return [...reads];
  };
  return { readBy, erase, atRead };
}

it('remembers what it read, and nothing of a user who was erased', async () => {
  const { readBy, erase } = lists();
  expect(await readBy()).toEqual(['0', '1', '2']);
  expect(await readBy()).toEqual([]);
  erase('ann');
  expect(await readBy()).toEqual(['0', '2']);
  expect(await readBy()).toEqual([]);
});

it('does not remember what it was reading when a user was erased', async () => {
  const { readBy, erase, atRead } = lists();
  atRead.push(() => erase('ann'));
  expect(await readBy()).toEqual(['0', '1', '2']);
  expect(await readBy()).toEqual(['0']);
});
