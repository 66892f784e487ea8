import { describe, expect, it } from 'vitest';
import { clickRate, clickVerdict, rateDifference } from './click-rates.js';

describe('a click rate', () => {
  it('has the interval of Wilson', () => {
    // Newcombe 1998 (Statistics in Medicine 17:857), table I, method 3.
    for (const [clicks, answers, low, high] of [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718],
    ] as const) {
      const rate = clickRate(clicks, answers);
      expect(rate.rate).toBe(clicks / answers);
      expect(rate.low).toBeCloseTo(low, 4);
      expect(rate.high).toBeCloseTo(high, 4);
    }
    expect(clickRate(0, 0)).toMatchObject({ rate: 0, low: 0, high: 1 });
    expect(clickRate(7, 7).high).toBe(1);
  });

  it('covers the truth about as often as it says', () => {
    let state = 9;
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    let covered = 0;
    for (let run = 0; run < 1000; run += 1) {
      let clicks = 0;
      for (let i = 0; i < 200; i += 1) if (random() < 0.1) clicks += 1;
      const { low, high } = clickRate(clicks, 200);
      if (low <= 0.1 && high >= 0.1) covered += 1;
    }
    expect(covered).toBeGreaterThan(920);
    expect(covered).toBeLessThan(980);
  });

  it('differs from another by the interval of Newcombe', () => {
    // Newcombe 1998 (Statistics in Medicine 17:873), table II, method 10: 56/70 - 48/80.
    const { low, high } = rateDifference(clickRate(56, 70), clickRate(48, 80));
    expect(low).toBeCloseTo(0.0524, 4);
    expect(high).toBeCloseTo(0.3339, 4);
  });
});

it.each([
  [218, 480, 994, 2020, 'It is not known yet which version is clicked more: canary 45.4 %'],
  [300, 480, 994, 2020, 'The canary is clicked more: canary 62.5 % (58.1 % to 66.7 %), active'],
  [150, 480, 994, 2020, 'The active version is clicked more: canary 31.3 %'],
  [0, 0, 5, 10, 'It is not known yet'],
])('of %i of %i and %i of %i is put into words', (ours, asked, theirs, others, says) => {
  expect(clickVerdict(clickRate(ours, asked), clickRate(theirs, others))).toContain(says);
});
