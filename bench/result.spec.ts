import { describe, expect, it } from 'vitest';
import { judge, quantile } from './result.js';

describe('a bench result', () => {
  const base = { name: 'x', value: 5, unit: 'ms' };
  it('holds when its value is on the right side of its bar', () => {
    expect(judge({ ...base, bar: 5, bound: 'at-most' }).holds).toBe(true);
    expect(judge({ ...base, bar: 4, bound: 'at-most' }).holds).toBe(false);
    expect(judge({ ...base, bar: 6, bound: 'at-least' }).holds).toBe(false);
    expect(judge({ ...base, bar: null }).holds).toBeNull();
  });

  it('is judged by its ratio where it has one', () => {
    const ratio = { value: 2, to: 'floor' };
    expect(judge({ ...base, ratio, bar: 3, bound: 'at-most' }).holds).toBe(true);
    expect(judge({ ...base, ratio, bar: 3, bound: 'at-least' }).holds).toBe(false);
  });

  it('takes quantiles by the nearest rank', () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.2, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 1, 3, 5, 5]);
  });
});
