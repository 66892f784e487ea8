import { describe, expect, it } from 'vitest';
import { mean } from '../../result.js';
import {
  bestItems,
  compareSids,
  fewestRows,
  rowsByLevel,
  type SuiteItem,
  trieNodes,
} from './brute-force.js';
import { drawCases, drawEligibilities } from './draw-cases.js';
import { widthOfRows } from './quality-stage.js';
import { overPredicted, ratioInterval } from './resampling.js';
import { headPlaces } from './widened-model.js';

const item = (itemId: string, change: Partial<SuiteItem> = {}): SuiteItem =>
  Object.assign({ itemId, sid: [0], priority: 0, campaign: '', bid: 0 }, change);

const TAKING = {
  resultCount: 3,
  itemsPerSid: 1,
  orderBy: '',
  perCampaign: 0,
  isEligible: () => true,
} as const;

describe('brute force', () => {
  it('orders SIDs by their codes, a prefix before its extensions', () => {
    const sids = [[1], [0, 2], [0], [0, 10], [0, 2, 0]];
    expect([...sids].sort(compareSids)).toEqual([[0], [0, 2], [0, 2, 0], [0, 10], [1]]);
  });

  it('orders paths by score, then SID, and items by priority, then ID', () => {
    const paths = [
      { sid: [2], score: -1, items: [item('c')] },
      { sid: [1], score: -1, items: [item('b', { priority: 1 }), item('a'), item('d')] },
      { sid: [0], score: -0.5, items: [item('x'), item('y', { priority: 2 })] },
    ];
    expect(bestItems(paths, TAKING)).toEqual(['y', 'b', 'c']);
    const all = { ...TAKING, itemsPerSid: 9, resultCount: 9 };
    expect(bestItems(paths, all)).toEqual(['y', 'x', 'b', 'a', 'd', 'c']);
  });

  it('takes as few items of a SID as fill the answer where none is said', () => {
    const items = ['a', 'b', 'c', 'd'].map((itemId) => item(itemId));
    const paths = [
      { sid: [0], score: -1, items },
      { sid: [1], score: -2, items: [item('e')] },
    ];
    const free = { ...TAKING, itemsPerSid: 0 };
    expect(bestItems(paths, free)).toEqual(['a', 'b', 'e']);
    expect(bestItems(paths, { ...free, resultCount: 2 })).toEqual(['a', 'e']);
    expect(bestItems(paths, { ...free, resultCount: 9 })).toHaveLength(5);
  });

  it('leaves out what may not be had and what a cap keeps out', () => {
    const paths = ['a', 'b', 'c', 'd'].map((itemId, at) => ({
      sid: [at],
      score: -at,
      items: [item(itemId, { campaign: at < 3 ? 'one' : 'two', bid: at })],
    }));
    expect(bestItems(paths, { ...TAKING, perCampaign: 1 })).toEqual(['a', 'd']);
    const isEligible = ({ bid }: SuiteItem) => bid !== 1;
    expect(bestItems(paths, { ...TAKING, isEligible })).toEqual(['a', 'c', 'd']);
  });

  it('counts prefixes that are no worse than the k-th best SID', () => {
    const nodes = trieNodes([[0, 0], [0, 1], [1, 0], [2]]);
    expect(nodes.map(({ path }) => path.join())).toEqual(['0', '0,0', '0,1', '1', '1,0', '2']);
    expect(nodes.filter(({ isInner }) => isInner).map(({ path }) => path[0])).toEqual([0, 1]);
    const scores = [-1, -1.5, -3, -2, -2.5, -4];
    expect([1, 2, 3, 9].map((k) => fewestRows(nodes, scores, k))).toEqual([1, 2, 2, 2]);
    const deep = trieNodes([
      [0, 0, 0],
      [0, 1, 0],
      [1, 0, 0],
    ]);
    expect(rowsByLevel(deep, [-1, -1, -1, -2, -2, -3, -3, -3], 2)).toEqual([1, 2]);
  });
});

describe('cases of the search suite', () => {
  const items = Array.from({ length: 3000 }, (_, at) =>
    item(`${at}`, { campaign: `c${at % 30}`, bid: (at % 50) / 10 }),
  );

  it('are the same for a seed, and those of one eligibility come together', () => {
    const cases = drawCases(50, 4, 8, 1);
    expect(cases).toEqual(drawCases(50, 4, 8, 1));
    const order = cases.map(({ eligibility }) => eligibility);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('have lists that say what their functions do', () => {
    for (const { request, has } of drawEligibilities(items, 2)) {
      const count = items.filter(has).length;
      expect(count).toBeGreaterThan(0);
      if (request.predicate !== undefined) continue;
      const refused = new Set([...request.denied, ...request.seen]);
      const allowed = request.allowed ?? items.map(({ itemId }) => itemId);
      expect(count).toBe(allowed.filter((itemId) => !refused.has(itemId)).length);
    }
  });
});

describe('figures of the search suite', () => {
  it('have an interval about the ratio of two sums', () => {
    const above = Array.from({ length: 400 }, (_, user) => Number(user % 2 === 0));
    const below = Array.from({ length: 400 }, (_, user) => Number(user % 4 === 0));
    const { low, high } = ratioInterval(above, below, 1);
    expect(mean(above) / mean(below)).toBe(2);
    expect(low).toBeGreaterThan(1.7);
    expect(low).toBeLessThan(2);
    expect(high).toBeGreaterThan(2);
    expect(high).toBeLessThan(2.4);
    expect(ratioInterval(above, above, 1)).toEqual({ low: 1, high: 1 });
  });

  it('predict by the quantile of the last values', () => {
    expect(overPredicted([1, 2, 3, 4, 8, 2], 4, 0.75)).toEqual([8 / 3, 2 / 4]);
  });

  it('give a beam the rows of a search', () => {
    expect([151, 150, 1].map((rows) => widthOfRows(rows, 4))).toEqual([50, 50, 1]);
  });

  it('put the numbers of a head where their frequencies are', () => {
    const places = headPlaces(4, 16);
    expect([0, 1, 2, 3, 4].map(places)).toEqual([0, 4, 8, 12, 16]);
    const frequency = (at: number, size: number) => 10_000 ** (-(2 * (at % (size / 2))) / size);
    for (const at of [0, 1, 2, 3]) {
      expect(frequency(places(at), 16)).toBeCloseTo(frequency(at, 4), 12);
    }
  });
});
