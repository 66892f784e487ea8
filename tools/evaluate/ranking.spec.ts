import { describe, expect, it } from 'vitest';
import { quality, rankOf } from './ranking.js';

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
