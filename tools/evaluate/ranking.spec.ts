import { describe, expect, it } from 'vitest';
import { breadthOf, quality, rankOf, recallWithin } from './ranking.js';

describe('the breadth of lists', () => {
  it("counts items that are shown, and targets in nobody's history", () => {
    const lists = [['a', 'b'], ['a'], []];
    const cases = [
      { history: ['b'], target: 'a' },
      { history: ['c'], target: 'b' },
      { history: ['c'], target: 'd' },
    ];
    expect(breadthOf(lists, cases, [1, null, null], 8)).toMatchObject({
      shownItems: 2,
      coverage: 0.25,
      coldUsers: 2,
      coldRecall: { rate: 0.5, trials: 2 },
    });
    expect(breadthOf([], [], [], 0).coldRecall).toMatchObject({ rate: 0, trials: 0 });
  });

  it('ends with an interval of the recall', () => {
    // Newcombe 1998, table I: 81 of 263.
    const ranks = Array.from({ length: 263 }, (_, at) => (at < 81 ? 10 : 11));
    const { rate, low, high } = recallWithin(ranks, 10);
    expect([rate, low, high].map((one) => one.toFixed(4))).toEqual(['0.3080', '0.2553', '0.3662']);
  });
});

describe('quality', () => {
  it('is that of the definition on a small example', () => {
    const { recall, ndcg } = quality([1, 3, 7, null]);
    expect(recall).toEqual({ 5: 2 / 4, 10: 3 / 4 });
    expect(ndcg[5]).toBeCloseTo((1 + 1 / 2) / 4, 12);
    expect(ndcg[10]).toBeCloseTo((1 + 1 / 2 + 1 / 3) / 4, 12);
  });

  it('ranks by the order of the items, the first one being 1', () => {
    expect(rankOf('b', ['a', 'b', 'b'])).toBe(2);
    expect(rankOf('z', ['a'])).toBeNull();
  });
});
