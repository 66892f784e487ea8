import { TesseraError } from '@tessera/errors';
import { describe, expect, it } from 'vitest';
import { waitBeforeRetry, withRetries } from './retry.js';

const overloaded = (retryAfterMs?: number) =>
  new TesseraError('ENGINE_OVERLOADED', 'full', { retryAfterMs });

describe('a retry', () => {
  it.each([
    ['waits as long as the service says', overloaded(70), 0, 100, 70],
    ['waits longer each time where it says nothing', overloaded(), 2, 1000, 80],
    ['would come too late', overloaded(70), 0, 70, null],
    ['is given up after some attempts', overloaded(), 3, 1000, null],
    ['does not help a bad request', new TesseraError('REQUEST_INVALID', ''), 0, 1000, null],
    ['does not help when the time is over', new TesseraError('DEADLINE_EXCEEDED', ''), 0, 9, null],
    ['helps when nobody answered', new TesseraError('ENGINE_UNAVAILABLE', ''), 0, 1000, 20],
  ])('%s', (_name, error, attempt, leftMs, expected) => {
    expect(waitBeforeRetry(error, attempt, leftMs)).toBe(expected);
  });

  it('tells each attempt what is left, and rejects with the last error', async () => {
    const left: number[] = [];
    const attempts = withRetries(10_000, async (leftMs) => {
      left.push(leftMs);
      throw overloaded(1);
    });
    await expect(attempts).rejects.toMatchObject({ code: 'ENGINE_OVERLOADED' });
    expect(left).toHaveLength(4);
    expect(left).toEqual([...left].sort((a, b) => b - a));
  });

  it('ends with the first success', async () => {
    let attempts = 0;
    const answer = await withRetries(10_000, async () => {
      attempts += 1;
      if (attempts < 3) throw overloaded(1);
      return attempts;
    });
    expect(answer).toBe(3);
  });
});
