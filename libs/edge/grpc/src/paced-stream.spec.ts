import { StalledReader } from '@tessera/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { paced, SLOW_READER_MS } from './paced-stream.js';

function* counting(made: number[]) {
  for (let page = 0; page < 5; page++) {
    made.push(page);
    yield page;
  }
}

afterEach(() => {
  vi.useRealTimers();
});

it('makes the next message only when the reader has taken those before', async () => {
  const reader = new StalledReader();
  const made: number[] = [];
  const seen: unknown[] = [];
  paced(counting(made), reader as never).subscribe({
    next: (page) => seen.push(page),
    complete: () => seen.push('end'),
  });
  for (let page = 0; page < 5; page++) {
    await expect.poll(() => reader.listenerCount('drain')).toBe(1);
    expect([made.length, seen.length]).toEqual([page + 1, page + 1]);
    if (page === 3) reader.writableNeedDrain = false;
    reader.emit('drain');
    if (page === 3) break;
  }
  await expect.poll(() => seen).toEqual([0, 1, 2, 3, 4, 'end']);
  expect(reader.listenerCount('close')).toBe(0);
});

it('ends the stream of a reader that takes nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const reader = new StalledReader();
  const made: number[] = [];
  const ended = new Promise((resolve) => {
    paced(counting(made), reader as never).subscribe({ error: resolve });
  });
  await vi.waitUntil(() => reader.listenerCount('drain') === 1);
  vi.advanceTimersByTime(SLOW_READER_MS);
  expect(await ended).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  expect(made).toEqual([0]);
});

it('makes no more for a reader that has gone', async () => {
  const reader = new StalledReader();
  const made: number[] = [];
  paced(counting(made), reader as never).subscribe();
  await expect.poll(() => reader.listenerCount('drain')).toBe(1);
  reader.cancelled = true;
  reader.emit('cancelled');
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(made.length).toBeLessThanOrEqual(2);
});
