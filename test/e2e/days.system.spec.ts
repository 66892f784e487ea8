/** Some days of a service; many: npm run days. */

import { expect, it } from 'vitest';
import { runDays } from '../days/days.js';

const DAYS = 25;
const SEED = 20_261_123;

it(`answers ${DAYS} ordinary days as a model of them says, seed ${SEED}`, async () => {
  const { faults, counts } = await runDays(SEED, DAYS);
  expect(faults).toEqual([]);
  for (const kind of ['recall', 'end ads', 'erase', 'push adapter', 'restart', 'kill']) {
    expect(counts[kind], kind).toBeGreaterThan(0);
  }
});
