import { expect, it } from 'vitest';
import { NOT_RANKED, rankBody } from './rank-fields.js';

it('ranks nothing unless a form names whose heads', () => {
  expect(rankBody(NOT_RANKED)).toEqual({});
  expect(rankBody({ ...NOT_RANKED, rankItems: '50', rankValuation: 'worth' })).toEqual({});
});

it('sends the version with the heads, the items and a valuation with other weights', () => {
  expect(rankBody({ ...NOT_RANKED, rank: ' ranking ' })).toEqual({ rank: { adapter: 'ranking' } });
  const given = { rank: 'ranking', rankItems: '50', rankValuation: 'worth', rankWeights: 'ctr=2' };
  expect(rankBody(given)).toEqual({
    rank: { adapter: 'ranking', items: 50, valuation: { name: 'worth', weights: { ctr: 2 } } },
  });
});
