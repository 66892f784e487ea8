import { expect, it } from 'vitest';
import { sampledOf } from './sampled.js';

const IDS = Array.from({ length: 2000 }, (_, n) => `u-${String(n).padStart(4, '0')}`);

it('draws the same for a seed, whatever the order, and others for another seed', () => {
  const drawn = sampledOf(IDS, 50, 7);
  expect(new Set(drawn).size).toBe(50);
  expect(sampledOf([...IDS].reverse(), 50, 7)).toEqual(drawn);
  const other = sampledOf(IDS, 50, 8);
  expect(other.filter((id) => drawn.includes(id)).length).toBeLessThan(10);
  expect(sampledOf(['a', 'b'], 9, 1)).toHaveLength(2);
});

it('draws from all, as often from one end as from the other', () => {
  const counts = [0, 0, 0, 0];
  for (let seed = 0; seed < 40; seed += 1) {
    for (const id of sampledOf(IDS, 50, seed))
      (counts[Math.floor(IDS.indexOf(id) / 500)] as number) += 1;
  }
  // 2,000 draws: 500 to each quarter, give or take five standard deviations.
  for (const count of counts) expect(Math.abs(count - 500)).toBeLessThan(5 * Math.sqrt(375));
});

it('moves no other when one comes', () => {
  const before = sampledOf(IDS.slice(1), 100, 3);
  const after = sampledOf(IDS, 100, 3);
  expect(before.filter((id) => !after.includes(id)).length).toBeLessThanOrEqual(1);
});
