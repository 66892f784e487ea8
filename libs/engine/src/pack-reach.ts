import { PackedWriter, type ValuationUse, writeReachRequest } from '@tessera/native';
import type { ReachRequest } from './catalogue.js';

/** Used again by every request: the addon copies what it reads during the call. */
const out = new PackedWriter();
const BY_SCORE: ValuationUse = { name: '', scoreWeight: NaN, floor: NaN, weights: [] };

/** A request for a reach as the addon reads it; good until the next call. */
export function packReach({
  eligibility,
  itemPolicy,
  valuation = BY_SCORE,
}: ReachRequest): readonly [words: Uint32Array, count: number] {
  return out.record(writeReachRequest, { eligibility, itemPolicy, valuation });
}
