import { expect, it } from 'vitest';
import { overlapBins } from './run.js';

it('counts every user once, those of full overlap in the last bin', () => {
  const users = [0, 0.05, 0.1, 0.55, 0.99, 1, 1].map((overlap) => ({ overlap }));
  expect(overlapBins(users)).toEqual([2, 1, 0, 0, 0, 1, 0, 0, 0, 3]);
  expect(overlapBins([])).toEqual(new Array(10).fill(0));
});
