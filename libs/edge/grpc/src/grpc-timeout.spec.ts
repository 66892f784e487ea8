import { expect, it } from 'vitest';
import { timeoutMsOf, timeoutText } from './grpc-timeout.js';

it.each([
  ['100m', 100],
  ['2S', 2000],
  ['1H', 3_600_000],
  ['500u', 0.5],
  ['99999999H', 2_147_483_000],
  ['', undefined],
  ['100', undefined],
  ['123456789m', undefined],
])('reads %j as %s ms', (text, ms) => {
  expect(timeoutMsOf(text)).toBe(ms);
});

it.each([
  [100.9, '100m'],
  [99_999_999, '99999999m'],
  [100_000_000, '100000S'],
])('writes %d ms as %s', (ms, text) => {
  expect(timeoutText(ms)).toBe(text);
});
