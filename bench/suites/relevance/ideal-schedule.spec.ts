import { expect, it } from 'vitest';
import { Random } from '../../models/random.js';
import { quantile } from '../../result.js';
import { centralQueue, type Job, leastLate, quantileBoundUs } from './ideal-schedule.js';

const job = (atUs: number, us: number): Job => ({ atUs, us });

function randomJobs(seed: number, count: number): readonly Job[] {
  const random = new Random(seed);
  let atUs = 0;
  return Array.from({ length: count }, () => {
    atUs += random.below(12);
    return job(atUs, 1 + random.below(12));
  });
}

/** Of all choices of jobs that run in their order, the one with the fewest left out. */
function leastLateOfAll(jobs: readonly Job[], withinUs: number): number {
  let least = jobs.length;
  for (let chosen = 0; chosen < 1 << jobs.length; chosen += 1) {
    const run = jobs.filter((_, at) => (chosen >> at) % 2 === 1);
    let endUs = 0;
    const inTime = run.every(({ atUs, us }) => {
      endUs = Math.max(endUs, atUs) + us;
      return endUs <= atUs + withinUs;
    });
    if (inTime) least = Math.min(least, jobs.length - run.length);
  }
  return least;
}

it('lets jobs wait for the next free server, as they came or the shortest first', () => {
  const jobs = [job(0, 10), job(1, 8), job(2, 2), job(30, 1)];
  expect(centralQueue(jobs, 1, 'first-come')).toEqual([10, 17, 18, 1]);
  expect(centralQueue(jobs, 1, 'shortest')).toEqual([10, 10, 19, 1]);
  expect(centralQueue(jobs, 2, 'first-come')).toEqual([10, 8, 9, 1]);
});

it('finds the fewest late jobs of all schedules', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const jobs = randomJobs(seed, 9);
    for (const withinUs of [5, 12, 20]) {
      expect(leastLate(jobs, withinUs), `seed ${seed}`).toBe(leastLateOfAll(jobs, withinUs));
    }
  }
});

it('bounds a quantile from below, whoever schedules', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const jobs = randomJobs(seed, 100);
    const boundUs = quantileBoundUs(jobs, 0.95);
    for (const order of ['first-come', 'shortest'] as const) {
      expect(boundUs).toBeLessThanOrEqual(quantile(centralQueue(jobs, 1, order), 0.95));
    }
    expect(leastLate(jobs, boundUs * 1.001)).toBeLessThanOrEqual(5);
  }
});
