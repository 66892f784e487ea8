import { describe, expect, it } from 'vitest';
import { meanOverlap, overlapOf } from './overlap.js';

describe('overlap of two lists', () => {
  it('is the share of common items, whatever their order', () => {
    expect(overlapOf(['a', 'b', 'c', 'd'], ['d', 'x', 'b', 'y'], 4)).toBe(0.5);
    expect(overlapOf(['a', 'b'], ['b', 'a'], 2)).toBe(1);
  });

  it('looks at the first items only, and at fewer where a list is shorter', () => {
    expect(overlapOf(['a', 'b', 'c'], ['c', 'a', 'b'], 1)).toBe(0);
    expect(overlapOf(['a', 'b'], ['a'], 50)).toBe(0.5);
  });

  it('is whole for two empty lists and nothing where one is empty', () => {
    expect(overlapOf([], [], 50)).toBe(1);
    expect(overlapOf([], ['a'], 50)).toBe(0);
    expect(overlapOf(['a'], [], 50)).toBe(0);
  });

  it('is averaged over users', () => {
    expect(meanOverlap([['a'], ['b']], [['a'], ['c']], 50)).toBe(0.5);
  });
});
