/** Timings of the engine, and what stands for them where it was not asked. */

import { type EngineTimings, NO_TIMINGS, NOTHING_FOUND } from '@tessera/engine';

export function engineStages(timings: EngineTimings): Omit<EngineTimings, 'totalUs'> {
  const { totalUs: _engineTotal, ...stages } = timings;
  return stages;
}

export const NOTHING_COMPUTED = { prefixReusedTokens: 0, kv: NOTHING_FOUND, timings: NO_TIMINGS };
