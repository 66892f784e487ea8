import { expect, it } from 'vitest';
import { partsOf, scaleOf } from './value-bar.js';

const worth = (value: number, terms: Record<string, number>) => ({ value, terms, pace: 1 });

it('takes a value apart into the weighted score and its terms', () => {
  const parts = partsOf(worth(-2, { bid: 0.5, quality: -0.25 }));
  expect(parts).toEqual([
    ['score', -2.25],
    ['bid', 0.5],
    ['quality', -0.25],
  ]);
});

it('draws all bars to the scale of the largest', () => {
  expect(scaleOf([undefined, worth(-2, { bid: 1 }), worth(1, {})])).toBe(4);
  expect(scaleOf([undefined])).toBe(0);
});
