import { TesseraError } from '@tessera/errors';
import { seededRandom } from '@tessera/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { Retries } from './retries.js';

const LONG_MS = 60_000;
/** The lowest draw: waits are the hints, and 0.8 of the own waits. */
const LOWEST = () => 0;
const overloaded = (retryAfterMs?: number) =>
  new TesseraError('ENGINE_OVERLOADED', 'full', { retryAfterMs });

let nowMs = 0;
let waits: number[] = [];
beforeEach(() => {
  nowMs = 0;
  waits = [];
});
const clock = {
  now: () => nowMs,
  sleep: async (ms: number) => {
    waits.push(ms);
    nowMs += ms;
  },
};
const retries = (random = LOWEST) => new Retries(clock, random);

/** A call of so many attempts, each of which takes 5 ms; rejects where all are refused. */
function call(own: Retries, { refusals = 99, deadlineMs = LONG_MS, hintMs = 10 } = {}) {
  const left: number[] = [];
  const attempt = async (leftMs: number) => {
    left.push(leftMs);
    nowMs += 5;
    if (left.length <= refusals) throw overloaded(hintMs);
  };
  const ended = own.within(deadlineMs, attempt, TesseraError.from).catch(({ code }) => code);
  return ended.then((code) => ({ code, attempts: left.length, left }));
}

describe('a wait', () => {
  it.each([
    ['is as long as the service says', overloaded(70), 0, 140, 70],
    ['is longer each time where it says nothing', overloaded(), 2, LONG_MS, 64],
    ['is given up after some attempts', overloaded(), 3, LONG_MS, undefined],
    ['leaves an answer as long as itself', overloaded(70), 0, 139, undefined],
    ['does not help a bad request', new TesseraError('REQUEST_INVALID', ''), 0, 999, undefined],
    ['does not help a late call', new TesseraError('DEADLINE_EXCEEDED', ''), 0, 999, undefined],
    ['helps when nobody answered', new TesseraError('ENGINE_UNAVAILABLE', ''), 0, 999, 16],
    ['takes no hint for one of nothing', overloaded(0), 0, LONG_MS, 16],
  ])('%s', (_name, error, attempt, leftMs, expected) => {
    expect(retries().waitAfter(error, attempt, leftMs)).toBe(expected);
  });

  it('varies upwards from a hint, and both ways around an own wait', () => {
    const random = seededRandom(7);
    const hinted = [];
    const plain = [];
    for (let draw = 0; draw < 200; draw += 1) {
      hinted.push(retries(random).waitAfter(overloaded(100), 0, LONG_MS) ?? 0);
      plain.push(retries(random).waitAfter(overloaded(), 1, LONG_MS) ?? 0);
    }
    expect(Math.min(...hinted)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...hinted)).toBeLessThan(120);
    expect(Math.max(...hinted)).toBeGreaterThan(115);
    expect(Math.min(...plain)).toBeGreaterThanOrEqual(32);
    expect(Math.min(...plain)).toBeLessThan(34);
    expect(Math.max(...plain)).toBeLessThan(48);
    expect(Math.max(...plain)).toBeGreaterThan(46);
  });

  it('leaves as much time as answers took lately', () => {
    const own = retries();
    own.answered(80);
    expect(own.waitAfter(overloaded(10), 0, 90)).toBe(10);
    expect(own.waitAfter(overloaded(10), 0, 89)).toBeUndefined();
    own.answered(160);
    expect(own.waitAfter(overloaded(10), 0, 100)).toBe(10);
    expect(own.waitAfter(overloaded(10), 0, 99)).toBeUndefined();
  });
});

describe('calls', () => {
  it('tell each attempt its time, and reject with the last error', async () => {
    const { code, left } = await call(retries());
    expect(code).toBe('ENGINE_OVERLOADED');
    expect(left).toEqual([60_000, 59_985, 59_970, 59_955]);
    expect(waits).toEqual([10, 10, 10]);
  });

  it('end with the first success', async () => {
    expect(await call(retries(), { refusals: 2 })).toMatchObject({ code: undefined, attempts: 3 });
  });

  it('share a budget: five refusals end repeats, eleven successes allow one more', async () => {
    const own = retries();
    expect((await call(own)).attempts).toBe(4);
    expect((await call(own)).attempts).toBe(1);
    for (let success = 0; success < 10; success += 1) await call(own, { refusals: 0 });
    expect((await call(own)).attempts).toBe(1);
    for (let success = 0; success < 11; success += 1) await call(own, { refusals: 0 });
    expect((await call(own)).attempts).toBe(2);
  });

  it('of an overloaded service are repeated a tenth as often as they succeed', async () => {
    const own = retries(seededRandom(11));
    const refused = seededRandom(12);
    let attempts = 0;
    for (let at = 0; at < 2000; at += 1) {
      attempts += (await call(own, { refusals: refused() < 0.5 ? 99 : 0 })).attempts;
    }
    expect(attempts).toBeLessThan(2000 * 1.05 + 10);
  });

  it('are not repeated where the repeat would be late', async () => {
    const { attempts } = await call(retries(), { deadlineMs: 24 });
    expect(attempts).toBe(1);
    expect((await call(retries(), { deadlineMs: 25 })).attempts).toBe(2);
  });
});
