import { expect, it } from 'vitest';
import { SplitTally } from './split-counts.js';

it('lets a twentieth of the parts be asked of a second node, and some to begin with', () => {
  const tally = new SplitTally();
  const taken = (asks: number) =>
    Array.from({ length: asks }, () => tally.takeSecondAsk()).filter(Boolean).length;
  expect(taken(20)).toBe(8);
  for (let part = 0; part < 200; part += 1) tally.notePart(100, 100);
  expect(taken(20)).toBe(10);
  expect(taken(20)).toBe(0);
  expect(tally.parts).toEqual({ answered: 200, failed: 0, late: 18 });
});
