import { expect, it } from 'vitest';
import { AttributeCounts, compareAnswers, OTHER_VALUES, VALUES_MAX } from './compare.js';

const answer = (ids: string) =>
  [...ids].map((itemId, index) => ({ itemId, title: '', rank: index + 1, score: -index }));

it('tells what two answers share, what was lost, gained and moved', () => {
  const { items, ...sums } = compareAnswers(answer('abcd'), answer('caex'));
  expect(sums).toEqual({ shared: 2, lost: 2, gained: 2, overlap: 2 / 6, rankShift: 1.5 });
  expect(items.map((item) => [item.itemId, item.leftRank, item.rightRank])).toEqual([
    ['a', 1, 2],
    ['b', 2, undefined],
    ['c', 3, 1],
    ['d', 4, undefined],
    ['e', undefined, 3],
    ['x', undefined, 4],
  ]);
});

it('finds equal answers equal, and empty ones too', () => {
  expect(compareAnswers(answer('ab'), answer('ab'))).toMatchObject({ overlap: 1, rankShift: 0 });
  expect(compareAnswers([], [])).toMatchObject({ overlap: 1, shared: 0, items: [] });
  expect(compareAnswers(answer('a'), [])).toMatchObject({ overlap: 0, lost: 1 });
});

it('counts values of texts and lists by side, and the rare ones together', () => {
  const counts = new AttributeCounts();
  counts.add('left', { country: 'de', labels: ['x', 'y'], bid: 3 });
  counts.add('right', { country: 'de', labels: [] });
  for (let i = 0; i < VALUES_MAX + 5; i++) counts.add('right', { brand: `b${i}` });
  const { country, labels, brand, bid } = counts.distribution();
  expect(country).toEqual({ de: { left: 1, right: 1 } });
  expect(labels).toEqual({ x: { left: 1, right: 0 }, y: { left: 1, right: 0 } });
  expect(Object.keys(brand ?? {})).toHaveLength(VALUES_MAX + 1);
  expect(brand?.[OTHER_VALUES]).toEqual({ left: 0, right: 5 });
  expect(bid).toBeUndefined();
});
