import { describe, expect, it } from 'vitest';
import type { Answers } from './ask-all.js';
import { bothSearches, describeBoth } from './both-searches.js';

function answersOf(lists: readonly string[][], change: Partial<Answers>): Answers {
  const none = { ranks: [1, null], failures: [], skippedItems: 0, seconds: 2, searched: [] };
  return { lists, ...none, ...change };
}

const ITEMS = Array.from({ length: 50 }, (_, at) => `i${at}`);

describe('a beam beside certified answers', () => {
  const searched = (certified: boolean, ...rows: number[]) =>
    rows.map((count) => ({ certified, rows: count }));
  const beam = answersOf([ITEMS.slice(0, 40), ['i9', 'x']], { searched: searched(false, 20, 40) });
  const certified = answersOf([ITEMS, ITEMS.slice(0, 10)], {
    ranks: [1, 2],
    searched: searched(true, 10, 30),
  });
  const result = bothSearches(beam, certified);

  it('has the share of the certified lists that the beam has, at each depth', () => {
    expect(result.users).toBe(2);
    expect(result.found[10]).toBeCloseTo((1 + 0.1) / 2);
    expect(result.found[50]).toBeCloseTo((0.8 + 0.1) / 2);
  });

  it('has rows and quality of each', () => {
    expect(result.searches).toMatchObject([
      { search: 'beam', rowsMean: 30, rowsP90: 40, certifiedShare: 0, requestsPerSecond: 1 },
      { search: 'certified', rowsMean: 20, rowsP90: 30, certifiedShare: 1, requestsPerSecond: 1 },
    ]);
    expect(result.searches.map(({ recall }) => recall[10])).toEqual([0.5, 1]);
    expect(describeBoth(result)).toContain('55.0 % of the first 10 (missed 45.0 %)');
  });
});
