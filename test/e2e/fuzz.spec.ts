/** Some hostile requests to every route and method; many: npm run fuzz. */

import { expect, it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.js';

const REQUESTS = 600;
const SEED = 20_261_123;

it(`answers or refuses ${REQUESTS} hostile requests by a code, seed ${SEED}`, async () => {
  expect(await fuzz(SEED, REQUESTS)).toEqual([]);
});
