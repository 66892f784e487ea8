import fc from 'fast-check';
import { expect, it } from 'vitest';
import { POPULARITY_HALF_LIFE_MS, Popularity } from './popularity.js';

const DAY = POPULARITY_HALF_LIFE_MS;
const NOW = 1_800_000_000_000;

it('orders items by decayed counts, whatever the order of arrival', () => {
  const event = fc.record({
    itemId: fc.constantFrom('a', 'b', 'c', 'd'),
    ageMs: fc.integer({ min: -DAY, max: 40 * DAY }),
  });
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 40 }), (events) => {
      const popularity = new Popularity(() => NOW);
      for (const { itemId, ageMs } of events) popularity.add(itemId, NOW - ageMs);
      const counts = new Map<string, number>();
      for (const { itemId, ageMs } of events) {
        const weight = 2 ** (-Math.max(ageMs, 0) / DAY);
        counts.set(itemId, (counts.get(itemId) ?? 0) + weight);
      }
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const order = popularity.order();
      expect(new Set(order)).toEqual(new Set(counts.keys()));
      for (const [index, itemId] of order.entries()) {
        const share = (counts.get(itemId) ?? 0) / all;
        expect(popularity.shareOf(itemId)).toBeCloseTo(share, 9);
        const before = order[index - 1];
        if (before !== undefined) {
          expect((counts.get(before) ?? 0) / all).toBeGreaterThanOrEqual(share - 1e-12);
        }
      }
    }),
    { seed: 5, numRuns: 300 },
  );
});

it('goes on over years, and forgets what no longer counts', () => {
  let now = NOW;
  const popularity = new Popularity(() => now);
  popularity.add('old', now);
  for (let day = 0; day < 3000; day += 1) {
    now += DAY;
    popularity.add(day % 2 === 0 ? 'even' : 'odd', now);
  }
  expect(popularity.order().slice(0, 2)).toEqual(['odd', 'even']);
  expect(popularity.shareOf('odd')).toBeCloseTo(2 / 3, 6);
  popularity.add('long-ago', NOW - 5000 * DAY);
  expect(popularity.order()).not.toContain('long-ago');
});

it('keeps no more items than it may, the most popular ones', () => {
  const popularity = new Popularity(() => NOW, 100);
  for (let item = 0; item < 1000; item += 1) {
    for (let times = 0; times < (item < 10 ? 50 : 1); times += 1) popularity.add(`${item}`, NOW);
  }
  expect(popularity.itemCount).toBeLessThanOrEqual(100);
  expect(new Set(popularity.order().slice(0, 10))).toEqual(
    new Set(Array.from({ length: 10 }, (_, item) => `${item}`)),
  );
});
