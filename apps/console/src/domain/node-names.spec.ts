import { expect, it } from 'vitest';
import { NodeNames } from './node-names.js';

const ITEMS = [
  { sid: [1, 1, 0, 5], attributes: { category: 'coffee', brand: 'a', bid: 2 } },
  { sid: [1, 1, 1, 5], attributes: { category: 'coffee', brand: 'b' } },
  { sid: [1, 2, 0, 5], attributes: { category: 'tea', brand: 'c' } },
  { sid: [2, 1, 0, 5], attributes: { brand: 'a' } },
];

function namesOf(items: readonly (typeof ITEMS)[number][], wanted = '') {
  const names = new NodeNames();
  for (const item of items) names.add(item);
  return names.names(wanted);
}

it('names each node by the commonest value of the items below it', () => {
  const { attribute, names } = namesOf(ITEMS);
  expect(attribute).toBe('category');
  expect(names).toEqual({
    1: { value: 'coffee', share: 2 / 3 },
    '1-1': { value: 'coffee', share: 1 },
    '1-2': { value: 'tea', share: 1 },
    '1-1-0': { value: 'coffee', share: 1 },
    '1-1-1': { value: 'coffee', share: 1 },
    '1-2-0': { value: 'tea', share: 1 },
  });
  expect(namesOf(ITEMS, 'brand').names[2]).toEqual({ value: 'a', share: 1 });
});

it('takes the attribute with the fewest values where none is preferred', () => {
  const others = [
    { sid: [1], attributes: { shop: 'x', brand: 'a' } },
    { sid: [2], attributes: { shop: 'x', brand: 'b' } },
  ] as unknown as typeof ITEMS;
  expect(namesOf(others).attribute).toBe('shop');
  expect(namesOf([])).toEqual({ attribute: '', names: {} });
});
