import type { AnalysisStore, Row } from '../domain/analysis-store.js';
import type { OutcomeActions } from '../domain/outcomes.js';

/** The database that answers, and what its answers depend on. */
export interface Asking {
  readonly store: AnalysisStore;
  readonly actions: OutcomeActions;
  readonly signal?: AbortSignal | undefined;
}

export const numberOf = (row: Row | undefined, name: string) => Number(row?.[name] ?? 0);
export const textOf = (row: Row | undefined, name: string) => String(row?.[name] ?? '');

/** Milliseconds of a bucket, whole hours where it has an hour or more. */
export function bucketOf(fromMs: number, toMs: number, buckets: number): number {
  const HOUR_MS = 3_600_000;
  const least = Math.max(1000, Math.ceil((toMs - fromMs) / buckets));
  return least >= HOUR_MS ? Math.ceil(least / HOUR_MS) * HOUR_MS : Math.ceil(least / 1000) * 1000;
}

/** Begins of the buckets of a span. */
export function bucketsOf(fromMs: number, toMs: number, bucketMs: number): number[] {
  const count = Math.max(1, Math.ceil((toMs - fromMs) / bucketMs));
  return Array.from({ length: count }, (_, index) => fromMs + index * bucketMs);
}
