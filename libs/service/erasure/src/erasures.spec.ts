import { expect, it } from 'vitest';
import { Erasures } from './erasures.js';

it('tells what began before an erasure from what began after it', () => {
  const erasures = new Erasures();
  const before = erasures.mark;
  erasures.note('a');
  const after = erasures.mark;
  expect(erasures.isErasedSince('a', before)).toBe(true);
  expect(erasures.isErasedSince('b', before)).toBe(false);
  expect(erasures.isErasedSince('a', after)).toBe(false);
  erasures.note('a');
  expect(erasures.isErasedSince('a', after)).toBe(true);
  expect(erasures.isErasedSince(undefined, before)).toBe(false);
});

it('takes every user for erased since a time that it has forgotten', () => {
  const erasures = new Erasures(2);
  const before = erasures.mark;
  for (const userId of ['a', 'b', 'c']) erasures.note(userId);
  expect(erasures.isErasedSince('a', before)).toBe(true);
  expect(erasures.isErasedSince('never', before)).toBe(true);
  expect(erasures.isErasedSince('never', before + 1)).toBe(false);
  expect(erasures.isErasedSince('b', before + 1)).toBe(true);
});

it('agrees with a list of all erasures, but for what it has forgotten', () => {
  const seed = 17;
  let state = seed;
  const below = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % n;
  };
  const erasures = new Erasures(8);
  const all: string[] = [];
  let kept = 0;
  for (let i = 0; i < 5000; i++) {
    if (below(3) === 0) {
      const userId = `u${below(12)}`;
      erasures.note(userId);
      all.push(userId);
    }
    const mark = Math.max(0, all.length - below(12));
    const userId = `u${below(12)}`;
    const isErased = all.slice(mark).includes(userId);
    const answer = erasures.isErasedSince(userId, mark);
    if (isErased) expect(answer, `seed ${seed}`).toBe(true);
    if (new Set(all.slice(mark)).size < 8) expect(answer, `seed ${seed}`).toBe(isErased);
    if (!answer) kept += 1;
  }
  expect(kept).toBeGreaterThan(1000);
});
