import { describe, expect, it } from 'vitest';
import { AnswerRate } from './answer-rate.js';

const WINDOW_MS = 100;

/** Notes windows with so many answers each. */
function noted(rate: AnswerRate, answers: readonly number[], hasBacklog = true): number {
  for (const answered of answers) rate.note({ ms: WINDOW_MS, answered, withdrawn: 0 }, hasBacklog);
  return rate.perSecond;
}

describe('AnswerRate', () => {
  it('knows nothing before anything was answered with a backlog', () => {
    const rate = new AnswerRate();
    expect(noted(rate, Array(20).fill(5), false)).toBe(Number.POSITIVE_INFINITY);
    expect(noted(rate, [0, 0, 0])).toBe(Number.POSITIVE_INFINITY);
    expect(noted(new AnswerRate(), [3, 3])).toBe(30);
  });

  it('weighs windows by their time: one in which the process stood still is not one of ten', () => {
    const rate = new AnswerRate();
    noted(rate, Array(5).fill(100));
    rate.note({ ms: 500, answered: 0, withdrawn: 0 }, true);
    expect(rate.perSecond).toBe(500);
  });

  it('forgets after a second where answers are many', () => {
    const rate = new AnswerRate();
    noted(rate, Array(50).fill(100));
    expect(noted(rate, Array(10).fill(20))).toBe(200);
  });

  it('looks back further where answers are few and come in batches', () => {
    const rate = new AnswerRate();
    for (let i = 0; i < 60; i++) {
      const perSecond = noted(rate, [i % 3 === 0 ? 12 : 0]);
      if (i > 20) expect(Math.abs(perSecond - 40)).toBeLessThan(10);
    }
  });

  it('is corrected by what is answered without a backlog, upwards alone', () => {
    const rate = new AnswerRate();
    noted(rate, Array(20).fill(2));
    expect(rate.perSecond).toBe(20);
    expect(noted(rate, Array(10).fill(1), false)).toBe(20);
    expect(noted(rate, Array(10).fill(7), false)).toBe(70);
    expect(noted(rate, Array(50).fill(2))).toBe(20);
  });
});
