import { expect, it } from 'vitest';
import { runWorld } from './model-world.js';

const SEEDS = 40;
const FIRST = 1;

it(`loses nothing that it acknowledged in ${SEEDS} worlds from ${FIRST} on`, async () => {
  const went = { back: 0, acknowledged: 0, erased: 0 };
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    const { faults, counts } = await runWorld(seed);
    expect({ seed, faults }).toEqual({ seed, faults: [] });
    went.back += counts['log went back'] ?? 0;
    went.acknowledged += counts.acknowledged ?? 0;
    went.erased += counts.erased ?? 0;
  }
  expect(Math.min(...Object.values(went))).toBeGreaterThan(SEEDS / 10);
});
