/** Drawn places of an answer (docs/concepts/exploration.md). */

import { randomBytes } from 'node:crypto';
import type { Exploration } from '@tessera/engine';
import { expecting } from '@tessera/errors';
import type { Explore, RecallRequest } from './request-types.js';

const invalid = expecting('REQUEST_INVALID');

/** Bits of a random number beyond those that a double holds exactly. */
const BITS_BEYOND = 11n;

/** Keys of a draw are FP32: below, they do not tell likely items apart, nor are chances true. */
export const TEMPERATURE_MIN = 0.01;

/** Significant digits that hide the error of a product such as 0.07 * 100. */
const EXACT_DIGITS = 12;

const drawnSeed = () => Number(randomBytes(8).readBigUInt64LE() >> BITS_BEYOND);

function slotsOf({ slots, share }: Explore, resultCount: number): number {
  if ((slots === undefined) === (share === undefined)) {
    throw invalid('explore', 'slots or share', slots === undefined ? 'neither' : 'both');
  }
  if (share !== undefined) {
    const exact = (share * resultCount).toPrecision(EXACT_DIGITS);
    if (share > 0 && share <= 1) return Math.ceil(Number(exact));
    throw invalid('explore.share', 'above 0 and at most 1', String(share));
  }
  if (slots !== undefined && slots >= 1 && slots <= resultCount) return slots;
  throw invalid('explore.slots', `1..${resultCount}, which are wanted`, slots);
}

/**
 * The draw of a request; undefined: it has none.
 * @throws TesseraError REQUEST_INVALID naming a member of `explore`, or `scoreNorm`
 */
export function explorationOf(
  { explore, scoreNorm = 'allowed' }: RecallRequest,
  resultCount: number,
): Exploration | undefined {
  if (explore === undefined) return undefined;
  const { temperature = 1, seed = drawnSeed() } = explore;
  const slots = slotsOf(explore, resultCount);
  if (!(temperature >= TEMPERATURE_MIN && Number.isFinite(temperature))) {
    const expected = `a finite number of at least ${TEMPERATURE_MIN}`;
    throw invalid('explore.temperature', expected, String(temperature));
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw invalid('explore.seed', `0..${Number.MAX_SAFE_INTEGER}`, seed);
  }
  if (scoreNorm === 'allowed') return { slots, temperature, seed };
  throw invalid('scoreNorm', 'allowed (explore draws by what sums to one)', scoreNorm);
}
