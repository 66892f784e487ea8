import { expect, it } from 'vitest';
import { WriteQueue } from './write-queue.js';

/** Gathers until its signal is aborted. */
const FOREVER_MS = 2 ** 30;

function queueOf(options: { gatherMs: number; batchMax?: number }) {
  const batches: string[][] = [];
  let refusal: Error | undefined;
  const counts = { written: 0, failed: 0 };
  const queue = new WriteQueue<string>({
    waitingMax: 5,
    batchMax: options.batchMax ?? 4,
    gatherMs: options.gatherMs,
    write: async (batch) => {
      batches.push([...batch]);
      if (refusal !== undefined) throw refusal;
    },
    onWritten: (count) => {
      counts.written += count;
    },
    onFailed: (count) => {
      counts.failed += count;
    },
  });
  return {
    queue,
    batches,
    counts,
    refuse: () => {
      refusal = new Error('no');
    },
  };
}

it('writes together what is offered while it gathers, and at once for who waits', async () => {
  const { queue, batches } = queueOf({ gatherMs: FOREVER_MS });
  for (const one of 'abc') queue.offer(one);
  await new Promise(setImmediate);
  queue.offer('d');
  await queue.settled();
  expect(batches).toEqual([['a', 'b', 'c', 'd']]);
  await queue.settled();
  expect(batches).toHaveLength(1);
});

it('does not gather beyond a batch', async () => {
  const { queue, batches, counts } = queueOf({ gatherMs: FOREVER_MS, batchMax: 2 });
  for (const one of 'abc') queue.offer(one);
  await new Promise(setImmediate);
  expect(batches).toEqual([['a', 'b']]);
  expect(counts.written).toBe(2);
  await queue.close();
  expect(batches).toEqual([['a', 'b'], ['c']]);
});

it('lets a waiting caller go when all before it is written, whatever follows', async () => {
  const { queue, batches } = queueOf({ gatherMs: FOREVER_MS, batchMax: 1 });
  queue.offer('a');
  const settled = queue.settled().then(() => batches.length);
  const later = setInterval(() => queue.offer('x'), 0);
  expect(await settled).toBeLessThan(4);
  clearInterval(later);
  await queue.close();
});

it('refuses what does not fit and what comes after its end, and gives up what fails', async () => {
  const { queue, counts, refuse } = queueOf({ gatherMs: 0 });
  expect([...'abcdef'].map((one) => queue.offer(one))).toEqual([
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
  refuse();
  await queue.close();
  expect(counts).toEqual({ written: 0, failed: 5 });
  expect(queue.offer('g')).toBe(false);
});
