import { expect, it } from 'vitest';
import { parseFlight } from './flight.js';

it('reads the attributes of begin and end', () => {
  expect(parseFlight('')).toBeUndefined();
  expect(parseFlight('begin_ms, end_ms')).toEqual({ begin: 'begin_ms', end: 'end_ms' });
});

it.each(['begin', 'a,', ',b', 'a,a', 'a,b,c'])('refuses %j', (text) => {
  expect(() => parseFlight(text)).toThrow(/^catalogue\.flight: expected two names/);
});
