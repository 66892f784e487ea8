import type { Behaviour } from '@tessera/behaviour';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stableStart } from './resolve-history.js';

/** Events with few items, so that many are alike but for their time. */
const eventsOf = (count: number, seed: number): Behaviour[] =>
  Array.from({ length: count }, (_, time) => ({
    itemId: `i${(time * seed) % 7}`,
    action: '',
    time: seed + time * 60,
  }));

/** The newest `most` of a log, cut as a recall cuts them: indices into the log. */
function shown(log: readonly Behaviour[], most: number, percent: number): [number, number] {
  const window = log.slice(-most);
  const start = window.length < most ? 0 : stableStart(window, percent);
  return [log.length - window.length + start, log.length];
}

describe('the start of a history that is cut', () => {
  it('leaves out no more than it may, and nothing where it may not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 1, max: 1e6 }),
        (count, percent, seed) => {
          const start = stableStart(eventsOf(count, seed), percent);
          expect(start).toBeGreaterThanOrEqual(0);
          expect(start).toBeLessThanOrEqual((count * percent) / 100);
        },
      ),
    );
    expect(stableStart(eventsOf(50, 3), 0)).toBe(0);
    expect(stableStart([], 50)).toBe(0);
  });

  it('is the same for the same behaviours, whether they arrive one by one or at once', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 4, max: 50 }),
        (seed, portions, most) => {
          const all = eventsOf(
            portions.reduce((sum, portion) => sum + portion, 0),
            seed,
          );
          const kept: Behaviour[] = []; // of a store that keeps `most` and forgets the rest
          let end = 0;
          for (const portion of portions) {
            kept.push(...all.slice(end, end + portion));
            kept.splice(0, Math.max(0, kept.length - most));
            end += portion;
            const [from] = shown(all.slice(0, end), most, 50);
            const start = kept.length < most ? 0 : stableStart(kept, 50);
            expect(kept.slice(start)).toEqual(all.slice(from, end));
          }
        },
      ),
    );
  });

  it('only goes forward, and stays for about half of what may be left out', () => {
    const most = 64;
    let moves = 0;
    let visits = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const log = eventsOf(2000, seed * 7919);
      let before = -1;
      for (let end = most; end <= log.length; end++) {
        const [from] = shown(log.slice(0, end), most, 50);
        expect(from, `seed ${seed}, ${end} behaviours`).toBeGreaterThanOrEqual(before);
        moves += from === before ? 0 : 1;
        visits += 1;
        before = from;
      }
    }
    // 33 places to begin at: ranks without ties would move it every 17 visits.
    expect(visits / moves).toBeGreaterThan(14);
    expect(visits / moves).toBeLessThan(20);
  });
});
