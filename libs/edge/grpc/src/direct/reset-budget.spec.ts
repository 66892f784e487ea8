import { describe, expect, it } from 'vitest';
import { RESETS, ResetBudget } from './reset-budget.js';

describe('ResetBudget', () => {
  it('lets a burst pass, then as many as come back with time', () => {
    let nowMs = 0;
    const budget = new ResetBudget(() => nowMs);
    const taken = (count: number) => Array.from({ length: count }, () => budget.take());
    expect(taken(RESETS.burst).every((isLeft) => isLeft)).toBe(true);
    expect(budget.take()).toBe(false);
    nowMs += 1000;
    expect(taken(RESETS.perSecond - 1).every((isLeft) => isLeft)).toBe(true);
    expect(budget.take()).toBe(false);
  });
});
