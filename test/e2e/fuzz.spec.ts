/** Some hostile requests to every route and method; many: npm run soak -- fuzz. */

import { expect, it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.js';
import { runSoak } from '../soak/soak.js';

const ROUNDS = 150;
const SEED = 20_261_123;

it(`answers or refuses ${4 * ROUNDS} hostile requests by a code, seed ${SEED}`, async () => {
  const { faults } = await runSoak(fuzz, { seed: SEED, rounds: ROUNDS });
  expect(faults).toEqual([]);
});
