import { describe, expect, it } from 'vitest';
import { budgetOf } from './row-budget.js';

describe('the advised budget of rows', () => {
  it('is a quarter above what all but one of a hundred took, in steps of 32', () => {
    const rows = Array.from({ length: 100 }, (_, at) => at + 1);
    expect(budgetOf(rows)).toBe(128);
    expect(budgetOf([...rows, 5000])).toBe(128);
    expect(budgetOf([128])).toBe(160);
  });

  it('stays within what a request may ask for, and is none of no answers', () => {
    expect(budgetOf([])).toBeUndefined();
    expect(budgetOf([0])).toBe(32);
    expect(budgetOf([65_536])).toBe(65_536);
  });
});
