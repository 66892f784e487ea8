import { expect, it } from 'vitest';
import { JSON_DEPTH_MAX, jsonFault, parseJson } from './index.js';

it.each([
  ['{"a": 1, "b": {"a": 2}, "c": ["a", {"a": 3}, {"a": 4}]}', undefined],
  ['{"a": "b", "b": "a", "\\"": ":", ":": "{"}', undefined],
  ['["a", "a"]', undefined],
  ['7', undefined],
  ['{"a": 1, "b": 2, "a": 3}', 'a'],
  ['{"engine": {"widthMax": 1, "widthMax": 1}}', 'engine.widthMax'],
  ['{"x": [{"a": 1}, {"a": {"b": []}, "\\u0061": 2}]}', 'x.a'],
  ['{"ü": 1, "b": {"c": {}}, "ü": 2}', 'ü'],
  // No JSON: JSON.parse() says so.
  ['{"a": 1, "\\q": 2, "b', undefined],
  ['": : [{ ::', undefined],
])('of %s the key that is there twice is %s', (json, key) => {
  expect(jsonFault(json)?.key).toBe(key);
});

it('reads a text once, however many colons follow it', () => {
  const json = `"${'a'.repeat(1 << 22)}"${'[:]'.repeat(3000)}`;
  const begunMs = performance.now();
  expect(jsonFault(json)).toBeUndefined();
  expect(performance.now() - begunMs).toBeLessThan(1000);
});

it('refuses what JSON.parse() would take and lose, or could not write again', () => {
  expect(() => parseJson('{"a": {"b": 1, "b": 2}}')).toThrow("'a.b' twice");
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(parseJson(nested(JSON_DEPTH_MAX))).toHaveLength(1);
  expect(() => parseJson(nested(JSON_DEPTH_MAX + 1))).toThrow(
    'more; expected JSON nested at most 256 deep',
  );
  expect(() => parseJson('{')).toThrow(SyntaxError);
});
