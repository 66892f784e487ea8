import { expect, it } from 'vitest';
import { ranked } from './ranked.js';

const of = (score: number | null) => ({
  itemId: '',
  text: '',
  score,
  promptTokens: 0,
  documentTokens: 0,
  cutTokens: 0,
  error: null,
});

it('puts the best first, ties as given, and what has no score last', () => {
  const order = ranked([null, 0.2, -3, null, 0.9, 0.2].map(of));
  expect(order.map(({ index }) => index)).toEqual([4, 1, 5, 2, 0, 3]);
});
