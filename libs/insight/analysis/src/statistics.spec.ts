import { expect, it } from 'vitest';
import { jaccardDistance, shapleyValues } from './domain/shapley.js';
import { giniOf, rateOf } from './domain/statistics.js';
import { seeded } from './fixture/generated-facts.js';

it('bounds a rate as published examples of the Wilson interval do', () => {
  // Newcombe 1998, table I, without correction: 81 of 263 and 15 of 148.
  const [first, second] = [rateOf(81, 263), rateOf(15, 148)];
  expect([first.low, first.high].map((one) => one.toFixed(4))).toEqual(['0.2553', '0.3662']);
  expect([second.low, second.high].map((one) => one.toFixed(4))).toEqual(['0.0624', '0.1605']);
  expect(rateOf(0, 20)).toMatchObject({ low: 0 });
  expect(rateOf(20, 20)).toMatchObject({ high: 1 });
  expect(rateOf(0, 0)).toMatchObject({ rate: 0, low: 0, high: 0 });
});

it('gives the Gini coefficient of all pairs', () => {
  const random = seeded(7);
  const values = Array.from({ length: 80 }, () => (random.chance(0.4) ? 0 : random.below(30)));
  const positive = values.filter((one) => one > 0).sort((a, b) => a - b);
  const total = positive.reduce((sum, one) => sum + one, 0);
  const ranked = positive.reduce((sum, one, index) => sum + one * (index + 1), 0);
  let differences = 0;
  for (const a of values) for (const b of values) differences += Math.abs(a - b);
  const expected = differences / (2 * values.length * total);
  expect(giniOf(values.length, positive.length, total, ranked)).toBeCloseTo(expected, 12);
});

it('shares a difference out as the mean over all orders does', () => {
  const random = seeded(11);
  const players = ['adapter', 'catalogue', 'history'] as const;
  const worths = new Map<string, number>();
  const worth = (coalition: readonly string[]) => {
    const key = [...coalition].sort().join();
    if (key === '') return 0;
    const known = worths.get(key) ?? random.next();
    worths.set(key, known);
    return known;
  };
  const shares = shapleyValues(players, worth);
  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ].map((order) => order.map((index) => players[index] as string));
  for (const player of players) {
    const gains = orders.map((order) => {
      const before = order.slice(0, order.indexOf(player));
      return worth([...before, player]) - worth(before);
    });
    const mean = gains.reduce((sum, one) => sum + one, 0) / orders.length;
    expect(shares.get(player)).toBeCloseTo(mean, 12);
  }
  const sum = [...shares.values()].reduce((all, one) => all + one, 0);
  expect(sum).toBeCloseTo(worth(players), 12);
  expect(jaccardDistance(['a', 'b'], ['b', 'c'])).toBeCloseTo(2 / 3, 12);
});
