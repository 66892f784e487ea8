import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SplitMix64 } from './split-mix.js';

const MASK = 2n ** 64n - 1n;

/** The generator in the words of its paper, in exact integers. */
function* reference(seed: bigint): Generator<bigint> {
  let state = seed;
  for (;;) {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    yield z ^ (z >> 31n);
  }
}

describe('splitmix64 on halves', () => {
  it('draws the numbers of the paper', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MASK }), (seed) => {
        const halves = new SplitMix64(seed);
        const exact = reference(seed);
        for (let draw = 0; draw < 20; draw += 1) {
          halves.next();
          const number = (BigInt(halves.high) << 32n) | BigInt(halves.low);
          expect(number).toBe(exact.next().value);
        }
      }),
      { numRuns: 500, verbose: 1 },
    );
  });
});
