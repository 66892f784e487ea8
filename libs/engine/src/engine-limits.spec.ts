import { expect, it } from 'vitest';
import { queueCapacityFor } from './engine-limits.js';

it('has a place for each of so many requests of one class, as the engine counts places', () => {
  for (let requests = 1; requests <= 5000; requests += 1) {
    const capacity = queueCapacityFor(requests);
    const taken = requests - 1 + 2 * Math.floor(capacity / 16);
    expect(taken).toBeLessThan(capacity);
  }
});
