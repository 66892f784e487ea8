import { expect, it } from 'vitest';
import type { ResolvedHistory } from '../context/resolve-history.js';
import { sightOf } from './sight.js';

const item = (sid: readonly number[]) => ({ sid, action: '', domain: '', time: 0 });

it('says where each item stands in the prompt, and nothing of those that it leaves out', () => {
  const history = {
    items: [item([9]), item([1, 2]), item([3, 4]), item([5, 6])],
    itemIds: ['old', 'a', 'b', 'c'],
    profile: { age: '3' },
  } as unknown as ResolvedHistory;
  // Five tokens before the first item; the last stands behind four of text.
  const shown = [
    { place: 1, endToken: 7 },
    { place: 2, endToken: 9 },
    { place: 3, endToken: 15 },
  ];
  const sight = sightOf(history, { shown }, { tree: undefined });
  expect(sight.history.map(({ itemId, tokens }) => [itemId, tokens])).toEqual([
    ['old', undefined],
    ['a', [5, 7]],
    ['b', [7, 9]],
    ['c', [9, 15]],
  ]);
  expect(sightOf(undefined, { shown }, { tree: undefined })).toMatchObject({ history: [] });
});
