import { describe, expect, it } from 'vitest';
import { axesOf, chosen, descend, grid, type Setting } from './search.js';

const START: Setting = {
  threadCount: 1,
  batchRequestsMax: 16,
  batchRowsMax: 1024,
  prefillChunkTokens: 512,
};

/** A machine of two cores whose batches pay until 32 requests, and whose rows do not matter. */
async function rate({ threadCount, batchRequestsMax }: Setting): Promise<number> {
  return 10 * threadCount * Math.min(32, batchRequestsMax);
}

describe('the search for a setting', () => {
  it('finds the fastest, and of equal ones the one that takes least', async () => {
    const axes = axesOf(2, 64);
    const { advice, measured } = await descend(START, axes, rate);
    expect(advice).toEqual({
      setting: { threadCount: 2, batchRequestsMax: 32, batchRowsMax: 512, prefillChunkTokens: 128 },
      rate: 640,
    });
    const best = Math.max(...(await Promise.all(grid(axes).map(rate))));
    expect(advice.rate).toBe(best);
    expect(measured.length).toBeLessThan(grid(axes).length / 4);
  });

  it('asks for each setting once', async () => {
    const asked: string[] = [];
    await descend(START, axesOf(2, 64), (setting) => {
      asked.push(JSON.stringify(setting));
      return rate(setting);
    });
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('offers no more requests at a time than memory is there for, and at least a few', () => {
    expect(axesOf(2, 20).batchRequestsMax).toEqual([4, 8, 16]);
    expect(axesOf(1, 0)).toMatchObject({ threadCount: [1], batchRequestsMax: [4] });
  });

  it('passes over what the engine cannot be opened with', () => {
    const refused = { setting: START, rate: 0 };
    const slow = { setting: { ...START, threadCount: 2 }, rate: 5 };
    expect(chosen([refused, slow])).toBe(slow);
  });
});
