import { expect, it } from 'vitest';
import { runWorld } from './model-world.js';

const SEEDS = 8;
const FIRST = 1;

it(`loses nothing that it acknowledged in ${SEEDS} worlds from ${FIRST} on`, async () => {
  const went = { back: 0, acknowledged: 0, erased: 0, trimmed: 0, begun: 0 };
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    const { faults, counts } = await runWorld(seed);
    expect({ seed, faults }).toEqual({ seed, faults: [] });
    went.back += counts['log went back'] ?? 0;
    went.acknowledged += counts['change acknowledged'] ?? 0;
    went.erased += counts.erased ?? 0;
    went.trimmed += counts['log trimmed'] ?? 0;
    went.begun += counts['state of a snapshot'] ?? 0;
  }
  expect(Math.min(...Object.values(went))).toBeGreaterThan(0);
});
