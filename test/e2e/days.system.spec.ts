/** Some days of a service; many: npm run soak -- days. */

import { expect, it } from 'vitest';
import { days } from '../days/days.js';
import { runSoak } from '../soak/soak.js';

const DAYS = 25;
const SEED = 20_261_123;

it(`answers ${DAYS} ordinary days as a model of them says, seed ${SEED}`, async () => {
  const { faults, counts } = await runSoak(days, { seed: SEED, rounds: DAYS });
  expect(faults).toEqual([]);
  for (const kind of ['recall', 'end ads', 'erase', 'push adapter', 'restart', 'kill']) {
    expect(counts[kind], kind).toBeGreaterThan(0);
  }
});
