import { expect, it } from 'vitest';
import { Nearest } from './nearest.js';

const item = (itemId: string, ...sid: number[]) => ({ itemId, title: `title ${itemId}`, sid });

it('finds those with the most first codes in common, and never the item itself', () => {
  const nearest = new Nearest(item('x', 1, 2, 3), 3);
  const all = [
    item('far', 2, 2, 3),
    item('a', 1, 9, 3),
    item('b', 1, 2, 9),
    item('x', 1, 2, 3),
    item('same', 1, 2, 3),
    item('c', 1, 8, 8),
    item('d', 1, 7, 7),
  ];
  for (const one of all) nearest.add(one);
  expect(nearest.found().map(({ itemId, sharedLevels }) => [itemId, sharedLevels])).toEqual([
    ['same', 3],
    ['b', 2],
    ['a', 1],
  ]);
});
