import type { EngineTimings } from '@tessera/native';

/** Timings of a request that ran through no stage. */
export const NO_TIMINGS: EngineTimings = {
  queueUs: 0,
  planUs: 0,
  prefillUs: 0,
  decodeUs: 0,
  projectionsUs: 0,
  attentionUs: 0,
  headUs: 0,
  selectUs: 0,
  forkUs: 0,
  exportUs: 0,
  totalUs: 0,
};
