import { setImmediate as checkPhase } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Arrivals } from './arrivals.js';

it('counts a wait from the beginning of the turn before, where the loop had no pause', async () => {
  let ms = 0;
  const arrivals = new Arrivals(() => ms);
  expect(arrivals.waitedMs).toBe(0);
  ms += 30;
  expect(arrivals.waitedMs).toBe(30);
  await checkPhase();
  ms += 1;
  expect(arrivals.waitedMs).toBe(30);
  ms += 5;
  expect(arrivals.waitedMs).toBe(35);
});

it('counts from the turn itself where the loop was idle before it', async () => {
  let ms = 0;
  const arrivals = new Arrivals(() => ms);
  expect(arrivals.waitedMs).toBe(0);
  ms += 30;
  await checkPhase();
  ms += 10;
  expect(arrivals.waitedMs).toBe(0);
});
