import { expect, it } from 'vitest';
import { keyThereTwice } from './index.js';

it.each([
  ['{"a": 1, "b": {"a": 2}, "c": ["a", {"a": 3}, {"a": 4}]}', undefined],
  ['{"a": "b", "b": "a", "\\"": ":", ":": "{"}', undefined],
  ['["a", "a"]', undefined],
  ['7', undefined],
  ['{"a": 1, "b": 2, "a": 3}', 'a'],
  ['{"engine": {"widthMax": 1, "widthMax": 1}}', 'engine.widthMax'],
  ['{"x": [{"a": 1}, {"a": {"b": []}, "\\u0061": 2}]}', 'x.a'],
  ['{"ü": 1, "b": {"c": {}}, "ü": 2}', 'ü'],
])('of %s it is %s', (json, key) => {
  expect(keyThereTwice(json)).toBe(key);
});
