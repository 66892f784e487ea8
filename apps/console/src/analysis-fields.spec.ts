import { expect, it } from 'vitest';
import { askedFields, attributeOf, filterOf } from './analysis-fields.js';

const NOW_MS = 1_800_000_000_000;

it.each(['size 12"', 'a\\b', "it's", "'); DROP TABLE item; --"])(
  'an attribute called %s is asked for as any other',
  (name) => {
    const fields = askedFields({ attribute: `${name}=1`, by: name }, ['by']);
    expect(filterOf(fields, NOW_MS).attributes).toEqual([[name, '1']]);
    expect(attributeOf(fields, 'by')).toBe(name);
  },
);

it.each([
  ['scene', 'daypart=\0'],
  ['attribute', ['geo=at', '\0=1']],
  ['by', '\0'],
  ['model', 'm\0'],
])('a NUL in %s is refused by its name', (name, value) => {
  const message = `${name}: expected text without NUL, got one with it`;
  expect(() => askedFields({ [name]: value }, ['by'])).toThrow(message);
  expect(() => askedFields({}, [], { [name]: value })).toThrow(message);
});

it.each(['from', 'to'])('%s is a time whose spans before are times as well', (name) => {
  const fields = { from: '0', to: '9', [name]: String(Number.MAX_SAFE_INTEGER) };
  expect(() => filterOf(fields, NOW_MS)).toThrow(`${name}: expected an integer of 0..`);
  expect(filterOf({ from: '0', to: '253402300799999' }, NOW_MS).toMs).toBe(253_402_300_799_999);
});
