import { expect, it } from 'vitest';
import type { LivePage } from '../../../src/api-types.js';
import { withNew } from './use-live.js';

const page = (...timesMs: number[]) =>
  ({ pulses: timesMs.map((timeMs) => ({ timeMs })), canaries: [] }) as unknown as LivePage;
const timesOf = ({ pulses }: LivePage) => pulses.map(({ timeMs }) => timeMs);

it('adds what is new and lets go what is older than the span', () => {
  expect(timesOf(withNew(undefined, page(1000, 6000), 1))).toEqual([1000, 6000]);
  expect(timesOf(withNew(page(1000, 6000), page(11_000), 1))).toEqual([1000, 6000, 11_000]);
  expect(timesOf(withNew(page(1000, 6000), page(63_000), 1))).toEqual([6000, 63_000]);
  expect(timesOf(withNew(page(1000), page(), 1))).toEqual([1000]);
});
