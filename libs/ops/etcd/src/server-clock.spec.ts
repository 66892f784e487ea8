import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ServerClock } from './server-clock.js';

const START = Date.parse('2026-01-01T00:00:00Z');
/** Truth: the server's time when performance.now() is 0. */
const AHEAD = START + 567;
/** As a header has it: whole seconds. */
const headerAt = (ms: number) => Math.floor((AHEAD + ms) / 1000) * 1000;

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => vi.useRealTimers());

it('is within a second behind the server, and nearer with each answer', () => {
  const clock = new ServerClock();
  expect(clock.nowMs).toBe(0);
  const truth = () => AHEAD + performance.now() - begun;
  const begun = performance.now();
  for (let n = 0; n < 200; n += 1) {
    vi.advanceTimersByTime(137);
    clock.note(headerAt(performance.now() - begun));
    expect(truth() - clock.nowMs).toBeGreaterThanOrEqual(0);
    expect(truth() - clock.nowMs).toBeLessThan(1000);
  }
  expect(truth() - clock.nowMs).toBeLessThan(137);
});

it('takes no part of the clock of this process, and follows one that is set back', () => {
  const clock = new ServerClock();
  clock.note(START);
  vi.setSystemTime(START + 100 * 86_400_000);
  expect(clock.nowMs).toBe(START);
  clock.note(START - 3_600_000);
  expect(clock.nowMs).toBe(START - 3_600_000);
  clock.note(Number.NaN);
  expect(clock.nowMs).toBe(START - 3_600_000);
});
