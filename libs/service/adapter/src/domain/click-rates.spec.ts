import { describe, expect, it } from 'vitest';
import { clickRate, clickVerdict, differenceToEnd, rateDifference } from './click-rates.js';

const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const SAMPLES_MIN = 50;

/** Answers of each side until a look after a click ends the canary; undefined: none does. */
function endsAfter(canary: number, active: number, answersMax: number, random: () => number) {
  let [ours, theirs] = [0, 0];
  for (let answers = 1; answers <= answersMax; answers += 1) {
    const [isOurs, isTheirs] = [random() < canary, random() < active];
    ours += Number(isOurs);
    theirs += Number(isTheirs);
    if (answers < SAMPLES_MIN || !(isOurs || isTheirs)) continue;
    const rates = [clickRate(ours, answers), clickRate(theirs, answers)] as const;
    if (differenceToEnd(...rates).high < 0) return answers;
  }
  return undefined;
}

describe('a canary that is looked at after each click', () => {
  it('and is as good as the active version is ended in fewer than one of a hundred runs', () => {
    const random = randomOf(57);
    for (const rate of [0.02, 0.1, 0.4]) {
      let ended = 0;
      for (let run = 0; run < 300; run += 1) {
        if (endsAfter(rate, rate, 2000, random) !== undefined) ended += 1;
      }
      expect(ended, `rate ${rate}`).toBeLessThanOrEqual(3);
    }
  });

  it('and is clicked less by 30 % is ended', () => {
    const random = randomOf(58);
    const runs = Array.from({ length: 50 }, () => endsAfter(0.14, 0.2, 5000, random));
    const found = runs.filter((answers) => answers !== undefined).sort((a, b) => a - b);
    expect(found).toHaveLength(runs.length);
    expect(found[25]).toBeLessThan(1500);
  });
});

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
    const random = randomOf(9);
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
