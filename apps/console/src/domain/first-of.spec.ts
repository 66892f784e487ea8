import { expect, it } from 'vitest';
import { firstOf } from './first-of.js';

const SEED = 11;

it('has the first of all lists in the order that is asked for, whatever lists they are in', () => {
  let state = SEED;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  for (let round = 0; round < 200; round += 1) {
    const all = Array.from({ length: random(40) }, (_, n) => ({
      timeMs: random(12),
      totalUs: random(12),
      id: `${n}`,
    }));
    const lists: (typeof all)[] = [[], [], []];
    for (const entry of all) lists[random(3)]?.push(entry);
    const [limit, offset] = [random(20), random(9)];
    const keys = {
      time: (entry: (typeof all)[0]) => -entry.timeMs,
      slowest: (entry: (typeof all)[0]) => -entry.totalUs,
      fastest: (entry: (typeof all)[0]) => entry.totalUs,
    };
    for (const order of ['time', 'slowest', 'fastest'] as const) {
      const got = firstOf(lists, { order, offset, limit });
      // Of each key as many as a plain sort of the keys has there.
      const wanted = all.map(keys[order]).sort((a, b) => a - b);
      expect(got.map(keys[order]), `seed ${SEED}`).toEqual(wanted.slice(offset, offset + limit));
      expect(firstOf([...lists].reverse(), { order, offset, limit })).toEqual(got);
      const rest = firstOf(lists, { order, offset: 0, limit: offset });
      expect(new Set([...rest, ...got]).size).toBe(rest.length + got.length);
    }
  }
});
