import { expect, it } from 'vitest';
import { CostEstimates } from './cost-estimates.js';

it('tells methods and sizes apart by powers of two', () => {
  const kind = (bytes: number) => CostEstimates.kindOf('/R', bytes);
  expect(kind(64)).toBe(kind(127));
  expect(kind(127)).not.toBe(kind(128));
  expect(CostEstimates.kindOf('/S', 64)).not.toBe(kind(64));
});

it('nears what is observed', () => {
  const costs = new CostEstimates();
  const first = costs.predictedUs('k');
  costs.observe('k', 2000);
  expect(first).not.toBe(2000);
  expect(costs.predictedUs('k')).toBe(2000);
  for (let i = 0; i < 100; i += 1) costs.observe('k', 3000);
  expect(Math.abs(costs.predictedUs('k') - 3000)).toBeLessThan(1);
  expect(costs.predictedUs('other')).toBe(first);
});
