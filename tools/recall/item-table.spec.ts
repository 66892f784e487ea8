import type { Formula } from '@tessera/engine';
import type { RecallAnswer } from '@tessera/recall';
import { expect, it } from 'vitest';
import { itemTable, withBid } from './item-table.js';

const TERM = { name: 'bid', attribute: 'bid', min: -Infinity, max: Infinity, byDefault: NaN };
const ECPM = {
  name: 'ecpm',
  scoreWeight: 1,
  terms: [
    { ...TERM, function: 'log', weight: 1 },
    { ...TERM, name: 'quality', attribute: 'grade', function: 'clamp', weight: 0.3 },
  ],
  floor: -Infinity,
  bid: 'bid',
  pace: '',
} as unknown as Formula;
const VALUE = { value: -5.2, terms: { bid: 0.6, quality: 0.1 }, pace: 1, criticalBid: 1.19 };

const answer = {
  items: [
    {
      itemId: '7',
      sid: [1],
      score: -6,
      rank: 1,
      title: 'T',
      attributes: '{"bid":1.8221}',
      value: VALUE,
    },
  ],
  valuation: { name: 'ecpm', scoreWeight: 1, weights: { bid: 1, quality: 0.3 }, noPrices: '' },
} as unknown as RecallAnswer;

it('shows bids beside critical bids, and names terms by what they are', () => {
  const [head = '', , row = ''] = itemTable(answer, ECPM).split('\n');
  const names = ['term log(bid)', 'term 0.3 x clamp(grade)', 'bid', 'critical bid'];
  expect(head.split(/ {2,}/).map((cell) => cell.trim())).toEqual(expect.arrayContaining(names));
  expect(row).toMatch(/0\.6000 .* 0\.1000 .* 1\.8221 .* 1\.1900/);
});

it('asks for the bid of items where a formula names one', () => {
  const request = { attributes: undefined } as never;
  expect(withBid(request, ECPM)).toMatchObject({ attributes: ['bid'] });
  expect(withBid(request, undefined)).toBe(request);
});
