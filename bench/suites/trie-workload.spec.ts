import { describe, expect, it } from 'vitest';
import { logitsOf, makePool, makeSids, mix } from './trie-workload.js';

/** The mixing function of the native bench in exact integers. */
function exactMix(value: number): number {
  let x = BigInt(value);
  x ^= x >> 16n;
  x = (x * 0x7feb352dn) & 0xffff_ffffn;
  x ^= x >> 15n;
  x = (x * 0x846ca68bn) & 0xffff_ffffn;
  return Number(x ^ (x >> 16n));
}

describe('the workload of the pointer trie', () => {
  it('mixes as unsigned 32-bit arithmetic does', () => {
    for (const value of [0, 1, 2, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
      expect(mix(value)).toBe(exactMix(value));
    }
  });

  it('draws SIDs and logits by the stated rules', () => {
    expect([...makeSids(2, 256)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((i) => exactMix(i) % 256));
    const pool = makePool(3, 4);
    const logits = logitsOf(pool, 2, 5, 4);
    expect(logits).toHaveLength(20);
    const number = exactMix((0x9e3779b9 + 997 * 2 + 7) % 2 ** 32) >>> 8;
    expect(logits[7]).toBe(Math.fround((number / 2 ** 24) * 8 - 4));
  });
});
