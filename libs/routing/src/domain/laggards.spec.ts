import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decidedAdapters, decidedSequence, Laggards, type Progress } from './laggards.js';

const node = (name: string, sequence: number, adapters = 'x', weight = 1): Progress => ({
  name,
  weight,
  sequence,
  adapters,
});

it('decides on what more than half of the weight has reached, whoever looks', () => {
  const sequence = fc.record({ at: fc.nat(6), weight: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(sequence, { minLength: 1, maxLength: 7 }), (all) => {
      const nodes = all.map(({ at, weight }, n) => node(`n${n}`, at, 'x', weight));
      const whole = nodes.reduce((sum, { weight }) => sum + weight, 0);
      const reachedBy = (sequence: number) =>
        nodes
          .filter((one) => one.sequence >= sequence)
          .reduce((sum, { weight }) => sum + weight, 0);
      const decided = decidedSequence(nodes);
      expect(reachedBy(decided)).toBeGreaterThan(whole / 2);
      expect(reachedBy(decided + 1)).toBeLessThanOrEqual(whole / 2);
    }),
  );
  expect(decidedSequence([])).toBe(0);
  expect(decidedAdapters([node('a', 1, 'x'), node('b', 1, 'y')])).toBeUndefined();
  expect(decidedAdapters([node('a', 1, 'x', 3), node('b', 1, 'y', 2)])).toBe('x');
});

it('leaves a node out once it is behind for three seconds, until it has caught up', () => {
  const laggards = new Laggards();
  const note = (sequence: number, nowMs: number) =>
    laggards.note([node('a', 9), node('b', 9), node('c', sequence)], nowMs);
  expect(note(7, 0).size).toBe(0);
  expect(note(8, 2999).size).toBe(0);
  expect([...note(8, 3000)]).toEqual([['c', { kind: 'changes', expected: '9', got: '8' }]]);
  expect(note(9, 3500).size).toBe(0);
  // It is behind anew, and has its time anew.
  expect(note(8, 4000).size).toBe(0);
  expect(note(8, 7000).size).toBe(1);
  // Who is ahead of most is not behind them.
  expect(note(12, 9000).size).toBe(0);
});

it('leaves a node out that serves other adapters than more than half does', () => {
  const laggards = new Laggards();
  const three = [node('a', 1, 'new'), node('b', 1, 'new'), node('c', 1, 'old')];
  laggards.note(three, 0);
  expect([...laggards.note(three, 3000)]).toEqual([
    ['c', { kind: 'adapters', expected: 'new', got: 'old' }],
  ]);
  const even = three.slice(1);
  expect(laggards.note(even, 9000).size).toBe(0);
  // A node that was away begins anew.
  laggards.note(three, 10_000);
  laggards.note(three.slice(0, 2), 11_000);
  expect(laggards.note(three, 14_000).size).toBe(0);
});
