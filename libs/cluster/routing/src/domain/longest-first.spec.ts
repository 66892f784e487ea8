import { seededRandom } from '@tessera/testing';
import { expect, it } from 'vitest';
import { longestFirst, type SplitNode } from './longest-first.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const IDLE: SplitNode = { backlogUs: 0, tokenUs: 100 };

it('gives each document to one node, in the order of the call', () => {
  for (const seed of SEEDS) {
    const random = seededRandom(seed);
    const tokens = Array.from({ length: 40 }, () => 1 + Math.floor(random() * 500));
    const nodes = Array.from({ length: 5 }, () => ({ backlogUs: 1e4 * random(), tokenUs: 100 }));
    const parts = longestFirst(tokens, 30, nodes);
    expect(parts).toHaveLength(nodes.length);
    expect(parts.flat().sort((a, b) => a - b)).toEqual(tokens.map((_, at) => at));
    for (const part of parts) expect(part).toEqual([...part].sort((a, b) => a - b));
  }
});

it('ends within a third of the best that documents allow, whatever their lengths', () => {
  for (const seed of SEEDS) {
    const random = seededRandom(seed);
    const tokens = Array.from({ length: 32 }, () => Math.ceil(20 * Math.exp(3 * random())));
    const parts = longestFirst(tokens, 0, [IDLE, IDLE, IDLE]);
    const sums = parts.map((part) => part.reduce((sum, at) => sum + (tokens[at] as number), 0));
    const mean = sums.reduce((sum, one) => sum + one, 0) / sums.length;
    // Graham's bound, 4/3 - 1/3m, of no less than the mean and the longest.
    const bound = (4 / 3 - 1 / 9) * Math.max(mean, ...tokens);
    expect(Math.max(...sums), `seed ${seed}`).toBeLessThanOrEqual(bound);
  }
});

it('takes what nodes have to do, and how fast they are, into account', () => {
  const even = Array.from({ length: 30 }, () => 100);
  const loaded = longestFirst(even, 0, [{ backlogUs: 1e5, tokenUs: 100 }, IDLE]);
  expect(loaded.map(({ length }) => length)).toEqual([10, 20]);
  const slow = longestFirst(even, 0, [{ backlogUs: 0, tokenUs: 200 }, IDLE]);
  expect(slow.map(({ length }) => length)).toEqual([10, 20]);
});

it('leaves a call in one part where a second one costs more than it saves', () => {
  const busy = { backlogUs: 8000, tokenUs: 100 };
  expect(longestFirst([30, 30], 50, [busy, IDLE])).toEqual([[], [0, 1]]);
});

it('splits less where calls behind this one wait for what parts compute again', () => {
  const tokens = Array.from({ length: 16 }, () => 100);
  const partsAt = (backlogUs: number) => {
    const nodes = Array.from({ length: 4 }, () => ({ backlogUs, tokenUs: 100 }));
    return longestFirst(tokens, 200, nodes).filter(({ length }) => length > 0).length;
  };
  expect(partsAt(0)).toBe(4);
  expect(partsAt(150_000)).toBeLessThan(4);
  expect(partsAt(1e6)).toBe(1);
});
