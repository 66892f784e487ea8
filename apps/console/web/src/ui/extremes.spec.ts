import { expect, it } from 'vitest';
import { extremesOf } from './extremes.js';

const line = (...values: (number | null)[]) => values.map((value, time) => ({ time, value }));

it('keeps the lowest and the highest value of each stretch, in the order of time', () => {
  const drawn = extremesOf(line(1, 9, 2, 3, 8, 0, 5, 5), 2);
  expect(drawn.map(({ time, value }) => [time, value])).toEqual([
    [0, 1],
    [1, 9],
    [4, 8],
    [5, 0],
  ]);
});

it('keeps gaps that last for a stretch, and lines of few values', () => {
  const gap = extremesOf(line(1, null, 2, null, null, null, 4, null, null), 3);
  expect(gap.map(({ time, value }) => [time, value])).toEqual([
    [0, 1],
    [2, 2],
    [3, null],
    [6, 4],
  ]);
  const few = line(1, null, 3);
  expect(extremesOf(few, 2)).toBe(few);
});
