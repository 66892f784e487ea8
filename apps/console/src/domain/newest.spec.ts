import { expect, it } from 'vitest';
import { newestOf } from './newest.js';

const SEED = 11;

it('has the newest of all lists, whatever lists they are in', () => {
  let state = SEED;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  for (let round = 0; round < 200; round += 1) {
    const all = Array.from({ length: random(40) }, (_, n) => ({ timeMs: random(12), id: `${n}` }));
    const lists: (typeof all)[] = [[], [], []];
    for (const entry of all) lists[random(3)]?.push(entry);
    const limit = random(20);
    const got = newestOf(lists, limit);
    expect(got, `seed ${SEED}`).toHaveLength(Math.min(limit, all.length));
    // No entry that is left out is newer than one that is in.
    const left = all.filter((entry) => !got.includes(entry));
    const oldest = Math.min(...got.map(({ timeMs }) => timeMs));
    expect(left.every(({ timeMs }) => limit === 0 || timeMs <= oldest)).toBe(true);
    const times = got.map(({ timeMs }) => timeMs);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(newestOf([...lists].reverse(), limit)).toEqual(got);
  }
});
