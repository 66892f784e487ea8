import { ItemText } from '@tessera/prompt';
import { expect, it } from 'vitest';
import { parseRelevance } from './parse-relevance.js';

const shoe = { title: 'Red shoe', attributes: '{"brand":"Ada","sizes":[41,42],"price":19.5}' };
const bare = { title: '', attributes: '{}' };

it.each([
  ['{title}', 'Red shoe'],
  ['{title} by {brand}', 'Red shoe by Ada'],
  ['{brand} ({sizes}) for {price}', 'Ada (41, 42) for 19.5'],
  ['{title}{missing}', 'Red shoe'],
  ['{missing} only', ''],
  ['{constructor}', ''],
])('the text of an item by %s', (pattern, text) => {
  expect(new ItemText(pattern).of(shoe)).toBe(text);
  expect(new ItemText(pattern).of(bare)).toBe('');
});

const template = {
  version: 1,
  name: 'own',
  segments: ['{query}', '{item}', 'tail'],
  labels: [
    { text: 'a', value: 0 },
    { text: 'b', value: 1 },
  ],
};

it('is the title where relevance.json says nothing of it', () => {
  expect(parseRelevance(template).itemText.slots).toEqual(['title']);
  const itemText = '{title} by {brand}';
  const { itemText: own } = parseRelevance({ ...template, itemText });
  expect(own.slots).toEqual(['title', 'brand']);
  expect(own.usesAttributes).toBe(true);
});

it.each(['no slot', '', 7])('is refused where it has no slot: %s', (itemText) => {
  expect(() => parseRelevance({ ...template, itemText })).toThrow(/itemText/);
});
