import { describe, expect, it } from 'vitest';
import { compared, type Found } from './whole.js';

const found = (scores: Readonly<Record<string, number>>, certified = true): Found => ({
  items: Object.entries(scores).map(
    ([itemId, score]) => ({ itemId, score }) as Found['items'][number],
  ),
  certified,
});

describe('whole recalls of two devices', () => {
  const reference = found({ a: -1, b: -1.5, c: -1.52, d: -3 });

  it('are the same where the gap is wider than both scores can move', () => {
    const ours = found({ a: -1.02, c: -1.51, b: -1.53, d: -3 });
    const { distance, sizes, wrong } = compared(ours, reference);
    expect(distance).toBeCloseTo(0.03, 9);
    // Gaps are wide behind a and c; b and c are nearer to each other.
    expect([sizes, wrong]).toEqual([2, []]);
  });

  it('differ where an item is missing in front of a wide gap', () => {
    const ours = found({ a: -1, b: -1.5, x: -1.51, d: -3 });
    expect(compared(ours, reference).wrong).toEqual([3]);
  });

  it('are compared by scores alone where one is not proven', () => {
    const ours = found({ a: -1.2, x: -1.3, y: -1.4, z: -1.5 }, false);
    expect(compared(ours, reference)).toEqual({
      distance: expect.closeTo(0.2, 9),
      sizes: 0,
      wrong: [],
    });
  });

  it('are infinitely far where they have nothing in common', () => {
    expect(compared(found({ x: 0 }), reference).distance).toBe(Number.POSITIVE_INFINITY);
  });
});
