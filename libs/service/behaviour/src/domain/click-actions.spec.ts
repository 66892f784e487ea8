import { TesseraError } from '@tessera/errors';
import { expect, it } from 'vitest';
import { parseClickActions } from './click-actions.js';

const ACTIONS = ['', 'click', 'buy', 'impression'];
const clicksOf = (text: string) => ACTIONS.filter(parseClickActions(text));

it.each([
  ['click', ['', 'click']],
  ['click, buy', ['', 'click', 'buy']],
  ['*', ACTIONS],
])('with %s, clicks are %j', (text, clicks) => {
  expect(clicksOf(text)).toEqual(clicks);
});

it.each(['', 'click,,buy', 'add to cart', 'a'.repeat(65)])('refuses the list "%s"', (text) => {
  expect(() => parseClickActions(text)).toThrow(TesseraError);
});
