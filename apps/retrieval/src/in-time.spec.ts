import { afterEach, describe, expect, it, vi } from 'vitest';
import { inTime } from './in-time.js';

afterEach(() => vi.restoreAllMocks());

/** An event loop whose reads waited so long, and whose clock goes on when something is asked. */
function loop(waitedMs: number) {
  let nowMs = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const touched: number[] = [];
  const asked: number[] = [];
  const ask = (tookMs: number) => async (leftUs: number) => {
    asked.push(leftUs);
    nowMs += tookMs;
    return 'answer';
  };
  return { asked, touched, ask, loop: { touch: () => touched.push(1), waitedMs, roundMs: 5 } };
}

describe('a call within its budget', () => {
  it('is asked with what the event loop leaves of it', async () => {
    const { asked, touched, ask, loop: waited } = loop(40);
    expect(await inTime(waited, 300_000, ask(250))).toBe('answer');
    // One whose parts ended with the deadline.
    expect(await inTime(waited, 300_000, ask(350))).toBe('answer');
    expect(asked).toEqual([255_000, 255_000]);
    expect(touched).toHaveLength(2);
  });

  it.each([
    [40, 361],
    [0, 1000],
    [700, 1],
  ])('of 300 ms that waited %d ms is not answered after %d more', async (waitedMs, tookMs) => {
    const { ask, loop: waited } = loop(waitedMs);
    await expect(inTime(waited, 300_000, ask(tookMs))).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: `deadline: expected an answer within 300 ms, got one after ${waitedMs + tookMs} ms`,
    });
  });

  it('has all the time that it takes where it has no deadline', async () => {
    const { ask, loop: waited } = loop(1);
    expect(await inTime(waited, Number.POSITIVE_INFINITY, ask(1e9))).toBe('answer');
  });
});
