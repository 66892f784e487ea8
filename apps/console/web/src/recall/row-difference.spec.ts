import { expect, it } from 'vitest';
import { differencesOf } from './row-difference.js';

const item = (own: object) =>
  Object.assign({ itemId: 'i', score: -2, rank: 1, sid: [], title: '' }, own) as never;
const worth = (value: number, terms: Record<string, number>) => ({ value, terms, pace: 1 });

it('tells the largest difference of two rows first, and their sum last', () => {
  const left = item({ value: worth(1, { bid: 2.5, quality: 0.5 }) });
  const right = item({ value: worth(0.5, { bid: 1, quality: 1 }) });
  const told = differencesOf(left, right);
  expect(told.map(({ name }) => name)).toEqual(['bid', 'score', 'quality', 'together']);
  expect(told.map(({ difference }) => difference)).toEqual([1.5, -0.5, -0.5, 0.5]);
});

it('takes the value of the ranking where there is one, and the score where there is none', () => {
  const ranked = { heads: {}, recallRank: 1, value: worth(3, { click: 3 }) };
  const one = item({ value: worth(9, {}), ranking: ranked });
  expect(differencesOf(one, item({ ranking: { value: worth(1, { click: 1 }) } })).at(-1)).toEqual({
    name: 'together',
    left: 3,
    right: 1,
    difference: 2,
  });
  expect(differencesOf(item({}), item({ score: -3 }))[0]).toMatchObject({ difference: 1 });
});
