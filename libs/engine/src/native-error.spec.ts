import { expect, it } from 'vitest';
import { fromNative } from './native-error.js';

it.each([
  ['/m/a model/config.json: rope_scaling.type: expected one of default', 'rope_scaling.type'],
  ['/m: lm_head.weight: expected shape [4,8], got [8,8]', 'lm_head.weight'],
  ['/m/config.json: expected an object, got 3', 'config.json'],
  ['levelTokens[0][12]: expected -1 or a token in 0..69, got 70', 'levelTokens[0][12]'],
  ['eligibility.predicate: attribute "a b" is a text, the clause differs', 'eligibility.predicate'],
  ['itemPolicy.orderBy: attribute "x": expected a number', 'itemPolicy.orderBy'],
  ['changes[3].attributes.my name: expected a text, got a set', 'changes[3].attributes.my name'],
  ['/m: something else is wrong', undefined],
])('an error of the addon, %s, names its field', (message, field) => {
  const error = fromNative(Object.assign(new Error(message), { code: 'MODEL_INVALID' }));
  expect(error).toMatchObject({ code: 'MODEL_INVALID', message });
  expect(error.field).toBe(field);
});
