/** Metrics of how recalls were searched (docs/concepts/search.md). */

import type { Registry } from 'prom-client';
import { combined, TalliedCounter, TalliedHistogram } from './tallies.js';

export const SEARCH_METRICS = {
  recallSearchRows: {
    name: 'tessera_recall_search_rows',
    meaning: 'rows of beams that a recall computed, by search (certified, beam)',
  },
  recallCertified: {
    name: 'tessera_recall_certified_total',
    meaning: 'searched recalls, by certified (true: no omitted item can score better)',
  },
} as const;

export interface SearchObservation {
  readonly search: string;
  readonly certified: boolean;
  readonly rows: number;
}

const ROW_BUCKETS = [16, 32, 64, 128, 192, 256, 384, 512, 1024, 2048, 4096, 16_384, 65_536];

export class SearchTallies {
  private readonly rows: TalliedHistogram;
  private readonly certified: TalliedCounter;

  constructor(registry: Registry) {
    const { recallSearchRows, recallCertified } = SEARCH_METRICS;
    this.rows = new TalliedHistogram(registry, recallSearchRows, ['search'], ROW_BUCKETS);
    const start = combined(['true', 'false']);
    this.certified = new TalliedCounter(registry, recallCertified, ['certified'], start);
  }

  observe({ search, certified, rows }: SearchObservation): void {
    this.rows.observe(rows, search);
    this.certified.count(String(certified));
  }
}
