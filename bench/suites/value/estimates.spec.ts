import { expect, it } from 'vitest';
import { BIAS_MAX, COVERAGE, judgeEstimates } from './estimates-stage.js';
import { TARGETS } from './simulated-shop.js';

const RUNS = 200;
const USERS = 400;

it.each(TARGETS)('finds what another %s earns, in as many intervals as it says', (target) => {
  for (const one of judgeEstimates(target, RUNS, USERS)) {
    const told = JSON.stringify(one);
    expect(one.coverage, told).toBeGreaterThanOrEqual(COVERAGE.low);
    expect(one.coverage, told).toBeLessThanOrEqual(COVERAGE.high);
    expect(one.biasSigmas, told).toBeLessThanOrEqual(BIAS_MAX);
  }
});
