import { describe, expect, it } from 'vitest';
import { noOutcome } from './call-counts.js';
import type { LoadOutcome } from './load-plan.js';
import { LOAD_FORMS, type LoadForm } from './loads.js';
import { loadRows, medianRows, steadyRate } from './overload-rows.js';

const OUTCOME: LoadOutcome = {
  seconds: 3,
  byPriority: { 1: Object.assign(noOutcome(), { offered: 100, good: 60, late: 2, unsent: 8 }) },
  writes: noOutcome(),
  goodMs: [1, 2, 3],
  refusedMs: [],
  goodBySecond: [40, 10, 30, 7],
  answers: [],
  arrivalLateMs: [],
  lostConnections: 0,
  cpuSeconds: 0.3,
};
const SEEN = { outcome: OUTCOME, cpuSeconds: 6, loop: { p99Ms: 12, maxMs: 20 } };

it('leaves the first second and the tail out of a rate', () => {
  expect(steadyRate(OUTCOME)).toBe(20);
});

it('counts a second without any answer', () => {
  expect(steadyRate(Object.assign({}, OUTCOME, { goodBySecond: [5, undefined, 8] }))).toBe(4);
});

describe('rows of a load', () => {
  const [form] = LOAD_FORMS as readonly LoadForm[];
  const rows = loadRows('load', form as LoadForm, SEEN, 25);
  const row = (what: string) => rows.find(({ name }) => name === `load: ${what}`);

  it('compare goodput with the capacity', () => {
    expect(row('goodput')?.ratio).toEqual({ value: 0.8, to: 'capacity' });
  });

  it('leave out of those taken what expired at the caller', () => {
    expect(row('in time of those taken')?.value).toBeCloseTo(60 / 92);
    expect(row('expired at the caller')?.value).toBe(0.08);
  });

  it('say nothing of the time of refusals where there were none', () => {
    expect(row('refusals, p99')).toBeUndefined();
  });

  it('divide the time of the service by its good answers', () => {
    expect(row('processor time of the service')?.value).toBe(100);
  });
});

it('takes the median of each row over the rounds that have it', () => {
  const round = (value: number, ratio: number) => [
    { name: 'a', value, unit: 'ms', bar: 1, ratio: { value: ratio, to: 'b' } },
  ];
  const refusals = [{ name: 'r', value: 7, unit: 'ms', bar: null }];
  const rows = medianRows([round(1, 9), [...round(5, 2), ...refusals], round(3, 4)]);
  expect(rows).toEqual([
    { name: 'a', value: 3, unit: 'ms', bar: 1, ratio: { value: 4, to: 'b' } },
    ...refusals,
  ]);
});
