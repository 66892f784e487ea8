import { expect, it } from 'vitest';
import { BY_LIKELIHOOD, valueBody } from './value-fields.js';

it('asks by likelihood and draws nothing unless a form says so', () => {
  expect(valueBody(BY_LIKELIHOOD)).toEqual({});
  expect(valueBody({ ...BY_LIKELIHOOD, weights: 'bid=2', temperature: '2' })).toEqual({});
});

it('sends a valuation with other weights, and places to draw', () => {
  const weights = 'bid = 2, quality=-0.5, odd=x';
  const given = { valuation: 'ecpm', weights, scoreWeight: '0.5', exploreSlots: '3', seed: '7' };
  expect(valueBody({ ...BY_LIKELIHOOD, ...given })).toEqual({
    valuation: { name: 'ecpm', weights: { bid: 2, quality: -0.5, odd: 'x' }, scoreWeight: 0.5 },
    explore: { slots: 3, seed: 7 },
  });
});
