import { expect, it } from 'vitest';
import { LOAD_CLASS_MAX, leastUsOf, loadClassOf, parseLoadClass } from './load-class.js';

it('names the greatest class whose least is not more', () => {
  for (const us of [0, 999, 1000, 1001, 1999, 2000, 4096, 65_000, 1e9, 1e12, Number.NaN]) {
    const all = Array.from({ length: LOAD_CLASS_MAX + 1 }, (_, n) => n);
    const expected = all.findLast((one) => leastUsOf(one) <= us) ?? 0;
    expect(loadClassOf(us), String(us)).toBe(expected);
  }
});

it('takes classes alone, and one beyond the greatest for that', () => {
  expect(['0', '7', '16', '99'].map(parseLoadClass)).toEqual([0, 7, 16, 16]);
  for (const text of [undefined, '', '-1', '1.5', '100', 'x']) {
    expect(parseLoadClass(text)).toBeUndefined();
  }
});
