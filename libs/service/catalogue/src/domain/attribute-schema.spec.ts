import { expect, it } from 'vitest';
import { parseAttributeSchema } from './attribute-schema.js';

const parse = (schema: unknown) => parseAttributeSchema(JSON.stringify(schema), 'a.json');

it('reads names, types and values', () => {
  const schema = {
    country: { type: 'text', values: ['de', 'at'] },
    labels: { type: 'set' },
    bid: { type: 'number' },
    creative: { type: 'untyped' },
  };
  expect(parse(schema)).toEqual([
    { name: 'country', type: 'text', values: ['de', 'at'] },
    { name: 'labels', type: 'set', values: [] },
    { name: 'bid', type: 'number', values: [] },
    { name: 'creative', type: 'untyped', values: [] },
  ]);
});

it.each([
  [[], 'a.json: expected a JSON object, got []'],
  [{ a: 'text' }, 'a.json: a: expected a JSON object, got text'],
  [{ a: {} }, 'a.json: a.type: expected text, set, number, untyped, got nothing'],
  [{ a: { type: 'text', value: ['x'] } }, 'a.json: a.value: expected one of type, values (did you'],
  [{ a: { type: 'text', values: [1] } }, 'a.json: a.values: expected a list of texts, got [1]'],
  [{ a: { type: 'number', values: ['1'] } }, 'a.json: a.values: expected values of a text or a'],
])('refuses %j naming file and member', (schema, message) => {
  expect(() => parse(schema)).toThrow(
    expect.objectContaining({
      code: 'CATALOGUE_INVALID',
      message: expect.stringContaining(message),
    }),
  );
});

it('refuses an attribute that is declared twice', () => {
  const text = '{"bid": {"type": "number"}, "bid": {"type": "text"}}';
  expect(() => parseAttributeSchema(text, 'a.json')).toThrow(
    "a.json: expected JSON, got 'bid' twice",
  );
});

it('refuses what is no JSON', () => {
  expect(() => parseAttributeSchema('{', 'a.json')).toThrow(/^a\.json: expected JSON, got /);
});
