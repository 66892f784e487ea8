import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classShares } from './class-shares.js';

describe('classShares', () => {
  it('gives classes that all ask for more their weights', () => {
    const shares = classShares([900, 900, 900], 700);
    expect(shares.map((share) => share * 7)).toEqual([4, 2, 1].map((part) => expect.closeTo(part)));
  });

  it('gives what one class leaves to the others by their weights', () => {
    const [high = 0, normal = 0, low = 0] = classShares([100, 900, 900], 700);
    expect([normal * 700, low * 700]).toEqual([expect.closeTo(400), expect.closeTo(200)]);
    // A class that asks for little is sure of its weight's part all the same.
    expect(high).toBeCloseTo(4 / 7);
  });

  it('leaves one class alone everything', () => {
    expect(classShares([0, 0, 900], 700)[2]).toBeCloseTo(1);
  });

  it('never gives a class less than its weight is worth', () => {
    const rate = fc.double({ min: 0, max: 1e5, noNaN: true });
    fc.assert(
      fc.property(
        fc.tuple(rate, rate, rate),
        fc.double({ min: 1, max: 1e4, noNaN: true }),
        (offered, capacity) => {
          const shares = classShares(offered, capacity);
          [4, 2, 1].forEach((weight, cls) => {
            expect(shares[cls]).toBeGreaterThanOrEqual(weight / 7 - 1e-9);
            expect(shares[cls]).toBeLessThanOrEqual(1 + 1e-9);
          });
        },
      ),
    );
  });
});
