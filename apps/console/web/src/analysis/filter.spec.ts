import { expect, it } from 'vitest';
import { apiQuery, commonOf, rangeOf, viewAt } from './filter.js';

const NOW = 1_800_000_030_000;
const MINUTE_END = 1_800_000_060_000;

it('has the last 24 hours to the minute, a span that is named, or two times', () => {
  const of = (text: string) => rangeOf(new URLSearchParams(text), NOW);
  expect(of('')).toEqual({ fromMs: MINUTE_END - 86_400_000, toMs: MINUTE_END });
  expect(of('span=1h')).toEqual({ fromMs: MINUTE_END - 3_600_000, toMs: MINUTE_END });
  expect(of('span=nonsense')).toEqual(of(''));
  expect(of('from=5&to=9')).toEqual({ fromMs: 5, toMs: 9 });
  expect(of('from=9&to=5')).toEqual(of(''));
});

it('asks for several values of a filter, and for what a view has of its own', () => {
  const query = new URLSearchParams('scene=a=1&scene=b=2&adapter=base&by=mine&from=5&to=9');
  const asked = new URLSearchParams(apiQuery(query, NOW, { by: 'brand', at: '' }));
  expect([...asked]).toEqual([
    ['from', '5'],
    ['to', '9'],
    ['scene', 'a=1'],
    ['scene', 'b=2'],
    ['adapter', 'base'],
    ['by', 'brand'],
  ]);
});

it('takes the filter to another view and leaves behind what is of this one', () => {
  const query = new URLSearchParams('span=7d&attribute=x=y&by=brand');
  expect(commonOf(query).toString()).toBe('span=7d&attribute=x%3Dy');
  expect(viewAt('/reach', query, { at: '3' })).toBe('/reach?span=7d&attribute=x%3Dy&at=3');
  expect(viewAt('/reach', new URLSearchParams())).toBe('/reach');
});
