import { describe, expect, it } from 'vitest';
import { inSlices } from './in-slices.js';

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

describe('work in slices', () => {
  it('gives what it makes of each item, in order', async () => {
    const made = await inSlices(['a', 'b', 'c'], (item, place) => `${item}${place}`);
    expect(made).toEqual(['a0', 'b1', 'c2']);
    expect(await inSlices([], () => 1)).toEqual([]);
  });

  it('lets others have the thread between slices', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await inSlices([1, 2, 3], (item) => {
      busy(3);
      order.push(`item ${item}`);
    });
    expect(order.indexOf('other')).toBe(1);
  });

  it('rejects with the fault of an item and leaves out those behind it', async () => {
    const seen: number[] = [];
    const act = (item: number) => {
      seen.push(item);
      if (item === 2) throw new Error('two');
    };
    await expect(inSlices([1, 2, 3], act)).rejects.toThrow('two');
    expect(seen).toEqual([1, 2]);
  });
});
