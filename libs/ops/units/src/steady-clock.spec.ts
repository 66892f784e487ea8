import { expect, it } from 'vitest';
import { SteadyClock } from './steady-clock.js';

const DAY_MS = 86_400_000;

it('trusts no wall clock that jumps against the monotonic one, until it is put right', () => {
  let wallMs = 1_795_500_000_000;
  let steadyMs = 5000;
  const clock = new SteadyClock(
    () => wallMs,
    () => steadyMs,
  );
  const pass = (ms: number, jumpMs = 0) => {
    steadyMs += ms;
    wallMs += ms + jumpMs;
    return { early: wallMs - clock.earliestMs(), late: clock.latestMs() - wallMs };
  };
  expect(pass(DAY_MS)).toEqual({ early: 0, late: 0 });
  // As a clock that is slewed.
  for (let hour = 0; hour < 24; hour += 1) expect(pass(3_600_000, 250_000).early).toBe(0);
  expect(clock.reading().state).toBe('ok');
  expect(pass(1000, 40 * DAY_MS)).toEqual({ early: 40 * DAY_MS, late: 0 });
  expect(pass(DAY_MS)).toEqual({ early: 40 * DAY_MS, late: 0 });
  expect(clock.reading()).toMatchObject({
    state: 'degraded',
    reason: expect.stringContaining('the clock jumped 57600 min ahead'),
  });
  expect(pass(1000, -40 * DAY_MS)).toEqual({ early: 0, late: 0 });
  expect(clock.reading().state).toBe('ok');
  expect(pass(1000, -DAY_MS)).toEqual({ early: 0, late: DAY_MS });
});
