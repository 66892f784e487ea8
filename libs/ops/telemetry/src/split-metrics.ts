/** Metrics of a gateway that splits calls over the nodes that score texts. */

import type { Registry } from 'prom-client';
import { copyCount, copyCounts } from './tallies.js';

export const SPLIT_METRICS = {
  splitParts: {
    name: 'tessera_split_parts_total',
    meaning: 'parts of split relevance calls, by outcome (answered, failed)',
  },
  splitCalls: {
    name: 'tessera_split_calls_total',
    meaning: 'relevance calls answered in more than one part',
  },
  splitSpread: {
    name: 'tessera_split_spread_seconds_total',
    meaning: 'seconds between the first and the last part of split calls',
  },
  splitShared: {
    name: 'tessera_split_shared_tokens_total',
    meaning: 'prompt tokens not computed again, from answers that report them',
  },
} as const;

/** Counts as a gateway reports them. */
export interface SplitCounts {
  readonly parts: Readonly<Record<'answered' | 'failed', number>>;
  readonly splitCalls: number;
  readonly spreadUs: number;
  readonly sharedTokens: number;
}

const US_PER_SECOND = 1_000_000;

export function registerSplitMetrics(registry: Registry, read: () => SplitCounts): void {
  copyCounts(registry, SPLIT_METRICS.splitParts, 'outcome', () => read().parts);
  const { splitCalls, splitSpread, splitShared } = SPLIT_METRICS;
  copyCount(registry, splitCalls, () => read().splitCalls);
  copyCount(registry, splitSpread, () => read().spreadUs / US_PER_SECOND);
  copyCount(registry, splitShared, () => read().sharedTokens);
}
