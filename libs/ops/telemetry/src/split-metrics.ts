/** Metrics of a gateway that splits calls over the nodes that score texts. */

import type { Registry } from 'prom-client';
import { copyCount, copyCounts } from './tallies.js';

export const SPLIT_METRICS = {
  splitParts: {
    name: 'tessera_split_parts_total',
    meaning:
      'parts of calls that score texts, by outcome: answered; failed; late, which were asked of ' +
      'another node as well',
  },
  splitCalls: {
    name: 'tessera_split_calls_total',
    meaning: 'calls that score texts that were answered in more than one part',
  },
  splitPredicted: {
    name: 'tessera_split_predicted_seconds_total',
    meaning: 'seconds that answered parts were predicted to take, with what their node had before',
  },
  splitActual: {
    name: 'tessera_split_actual_seconds_total',
    meaning: 'seconds that the same parts took',
  },
  splitSpread: {
    name: 'tessera_split_spread_seconds_total',
    meaning: 'seconds between the first and the last part of calls that were split',
  },
  splitShared: {
    name: 'tessera_split_shared_tokens_total',
    meaning: 'tokens of prompts that were not computed again, as answers that say so count them',
  },
} as const;

/** As a gateway reports them. */
export interface SplitCounts {
  readonly parts: Readonly<Record<'answered' | 'failed' | 'late', number>>;
  readonly splitCalls: number;
  readonly predictedUs: number;
  readonly actualUs: number;
  readonly spreadUs: number;
  readonly sharedTokens: number;
}

const US_PER_SECOND = 1_000_000;

export function registerSplitMetrics(registry: Registry, read: () => SplitCounts): void {
  copyCounts(registry, SPLIT_METRICS.splitParts, 'outcome', () => read().parts);
  const { splitCalls, splitPredicted, splitActual, splitSpread, splitShared } = SPLIT_METRICS;
  copyCount(registry, splitCalls, () => read().splitCalls);
  copyCount(registry, splitPredicted, () => read().predictedUs / US_PER_SECOND);
  copyCount(registry, splitActual, () => read().actualUs / US_PER_SECOND);
  copyCount(registry, splitSpread, () => read().spreadUs / US_PER_SECOND);
  copyCount(registry, splitShared, () => read().sharedTokens);
}
