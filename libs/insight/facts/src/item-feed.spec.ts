import type { AppliedBatch, ItemState } from '@tessera/catalogue';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ItemFeed } from './item-feed.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A catalogue of one item per ID. */
function catalogue() {
  const items = new Map<string, ItemState>();
  let sequence = 0;
  const listed = () => [...items.values()];
  const pinned = () => {
    const now = new Map(items);
    const none = (itemId: string) => ({
      itemId,
      title: '',
      attributes: '{}',
      isPaused: true,
      sid: [],
    });
    const of = (ids: readonly string[]) => ids.map((id) => now.get(id) ?? none(id));
    return { sequence, of };
  };
  const change = (op: 'upsert' | 'pause' | 'resume', itemId: string): AppliedBatch => {
    sequence += 1;
    items.set(itemId, {
      itemId,
      title: '',
      attributes: '{}',
      isPaused: op === 'pause',
      sid: [1],
    });
    const messages = [[{ op, itemId }]];
    return { sequence, changeCount: 1, ops: { [op]: 1 }, told: [], source: '', messages };
  };
  const list = async () => ({ sequence, pages: [listed()] as never });
  return { change, changes: { listItems: list, items: { pin: pinned } as never } };
}

/** The catalogue, and facts that note what they are told. */
function world() {
  const { change, changes } = catalogue();
  const told: unknown[] = [];
  const faults: unknown[] = [];
  let isAway = false;
  const away = async () => {
    if (isAway) throw new Error('the facts are away');
  };
  const feed = new ItemFeed({
    store: {
      applyItems: async ({ sequence: at, items: text }) => {
        await away();
        const rows = JSON.parse(text) as { item_id: string; live: boolean }[];
        told.push(...rows.map(({ item_id, live }) => [at, item_id, live]));
      },
      replaceItems: async ({ sequence: at }, pages) => {
        await away();
        let count = 0;
        for await (const page of pages) count += JSON.parse(page).length;
        told.push([at, 'all', count]);
      },
      offerRow: (table, row) => {
        const { seq, op, item_id, ...more } = row as Record<string, unknown>;
        const { attribute, value, pace } = more;
        const paced = pace === null ? [] : [attribute, value, pace];
        told.push([table, seq, op, item_id, ...paced]);
        return true;
      },
      noteDropped: (table, count) => told.push(['dropped', table, count]),
    },
    catalogue: { name: '', changes },
    nowMs: () => 1,
    onFault: (thrown) => faults.push(thrown),
  });
  const settled = async () => {
    const done = feed.settled();
    await vi.runAllTimersAsync();
    await done;
  };
  const setAway = (value: boolean) => {
    isAway = value;
  };
  const states = () => told.filter((one) => typeof (one as unknown[])[0] === 'number');
  return { feed, told, states, faults, change, settled, setAway };
}

it('tells items as each batch left them, also those of a burst', async () => {
  const { feed, states, change, settled } = world();
  feed.applied(change('upsert', 'a'));
  await settled();
  for (const op of ['pause', 'resume', 'pause'] as const) feed.applied(change(op, 'a'));
  await settled();
  expect(states()).toEqual([
    [1, 'all', 1],
    [2, 'a', false],
    [3, 'a', true],
    [4, 'a', false],
  ]);
});

it('tells what a change says where the next was applied before anybody heard of it', async () => {
  const { feed, states, change, settled } = world();
  feed.applied(change('upsert', 'a'));
  await settled();
  const both = [change('pause', 'a'), change('resume', 'a')];
  for (const batch of both) feed.applied(batch);
  await settled();
  expect(states().slice(1)).toEqual([
    [2, 'a', false],
    [3, 'a', true],
  ]);
});

it('lists again by itself what could not be listed or told', async () => {
  const { feed, states, faults, change, settled, setAway } = world();
  change('upsert', 'a');
  setAway(true);
  feed.start();
  await vi.advanceTimersByTimeAsync(0);
  expect([states(), faults.length]).toEqual([[], 1]);
  setAway(false);
  await vi.advanceTimersByTimeAsync(5000);
  await settled();
  expect(states()).toEqual([[1, 'all', 1]]);
  setAway(true);
  feed.applied(change('pause', 'a'));
  await vi.advanceTimersByTimeAsync(100);
  setAway(false);
  await vi.advanceTimersByTimeAsync(5000);
  await settled();
  expect(states()).toEqual([
    [1, 'all', 1],
    [2, 'all', 1],
  ]);
  await feed.close();
});

it('counts the changes of batches that it has no room for', async () => {
  const { feed, told, change, settled } = world();
  for (let batch = 0; batch < 1003; batch++) feed.applied(change('upsert', `i${batch % 7}`));
  await settled();
  const count = (what: string) => told.filter((one) => (one as unknown[])[0] === what).length;
  expect(count('change') + count('dropped')).toBe(1003);
  expect(count('dropped')).toBeGreaterThan(0);
  expect(told).toContainEqual(['dropped', 'change', 1]);
});

it('tells at its end what was applied, and never a part of a listing as the whole', async () => {
  const { feed, told, faults, change } = world();
  feed.start();
  feed.applied(change('pause', 'a'));
  const closed = feed.close();
  await vi.runAllTimersAsync();
  await closed;
  expect([told, faults]).toEqual([
    [
      ['change', 1, 'pause', 'a'],
      [1, 'a', false],
    ],
    [],
  ]);
  const other = world();
  other.feed.applied(other.change('pause', 'a'));
  const end = other.feed.close();
  await vi.runAllTimersAsync();
  await end;
  expect(other.told[0]).toEqual(['change', 1, 'pause', 'a']);
});

it('tells a pace with the text that it is for, and lists no item for its sake', async () => {
  const { feed, told, states, settled } = world();
  feed.start();
  await settled();
  const pace = { attribute: 'campaign', text: 'spring', factor: 0.5 };
  const messages = [[{ op: 'set_pace', itemId: '', pace } as const]];
  const batch = { sequence: 9, changeCount: 1, ops: { set_pace: 1 }, told: [], source: 'gRPC' };
  feed.applied({ ...batch, messages });
  await settled();
  expect(told).toContainEqual(['change', 9, 'set_pace', '', 'campaign', 'spring', 0.5]);
  expect(states()).toEqual([[0, 'all', 0]]);
});
