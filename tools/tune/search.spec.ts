import { describe, expect, it } from 'vitest';
import { axesOf, chosen, descend, grid, measurementsMax, type Setting } from './search.js';

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

  it('asks for each setting once, and for the fastest again in turns', async () => {
    const asked: string[] = [];
    const axes = axesOf(2, 64);
    const { measured } = await descend(START, axes, (setting) => {
      asked.push(JSON.stringify(setting));
      return rate(setting);
    });
    expect(new Set(asked.slice(0, measured.length)).size).toBe(measured.length);
    const last = asked.slice(measured.length);
    expect(last.length).toBe(3 * new Set(last).size);
    expect(asked.length).toBeLessThanOrEqual(measurementsMax(axes));
  });

  it('is not misled by one measurement that was lucky', async () => {
    let isLucky = true;
    const { advice } = await descend(START, axesOf(2, 64), async (setting) => {
      const luck = isLucky && setting.threadCount === 2 && setting.batchRequestsMax === 4;
      isLucky &&= !luck;
      return luck ? 900 : rate(setting);
    });
    expect(advice).toMatchObject({ setting: { batchRequestsMax: 32 }, rate: 640 });
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
