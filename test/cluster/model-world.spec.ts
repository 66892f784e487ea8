import { expect, it } from 'vitest';
import { runSoak } from '../soak/soak.js';
import { worlds } from './model-world.js';

const SEEDS = 8;
const FIRST = 1;

it(`loses nothing that it acknowledged in ${SEEDS} worlds from ${FIRST} on`, async () => {
  const { faults, counts } = await runSoak(worlds, { seed: FIRST, rounds: SEEDS });
  expect(faults).toEqual([]);
  const went = ['log went back', 'change acknowledged', 'erased', 'log trimmed'];
  for (const what of [...went, 'state of a snapshot'])
    expect(counts[what], what).toBeGreaterThan(0);
});
