import { describe, expect, it } from 'vitest';
import { faultOfTime } from './plausible-time.js';

/** 24 November 2026. */
const NOW_MS = 1_795_500_000_000;
const CLICK_S = 1_588_687_728;

describe('a time', () => {
  it.each([
    [0, 'seconds'],
    [CLICK_S, 'seconds'],
    [CLICK_S + 0.5, 'seconds'],
    [NOW_MS / 1000 + 299, 'seconds'],
    [CLICK_S * 1000, 'milliseconds'],
    // An order without dates.
    [7, 'seconds'],
    [7, 'milliseconds'],
    [10_000_000, 'milliseconds'],
  ] as const)('%d %s is taken', (time, unit) => {
    expect(faultOfTime(time, unit, NOW_MS)).toBeUndefined();
  });

  it.each([
    [CLICK_S * 1000, 'seconds', ', which looks like milliseconds'],
    [CLICK_S * 1e6, 'seconds', ', which looks like microseconds'],
    [CLICK_S, 'milliseconds', ', which looks like seconds'],
    [CLICK_S * 1e6, 'milliseconds', ', which looks like microseconds'],
    [CLICK_S * 1e9, 'milliseconds', ', which looks like nanoseconds'],
    [NOW_MS + 301_000, 'milliseconds', ''],
    [-62_135_596_800, 'seconds', ''],
    [-1, 'milliseconds', ''],
  ] as const)('%d %s is refused and names the unit that fits', (time, unit, hint) => {
    const fault = faultOfTime(time, unit, NOW_MS);
    expect(fault?.got).toBe(`${time}${hint}`);
    expect(fault?.expected).toMatch(new RegExp(`^${unit} since 1970, not negative`));
  });
});
