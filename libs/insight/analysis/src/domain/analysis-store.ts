import type { Dialect } from './dialect.js';

export type Row = Readonly<Record<string, unknown>>;

/**
 * Port: a database with the tables of docs/operate/analysis.md. Rejects with DEADLINE_EXCEEDED,
 * QUERY_TOO_LARGE, OPERATION_BUSY, CANCELLED or STORE_UNAVAILABLE.
 */
export interface AnalysisStore {
  readonly dialect: Dialect;
  /** The rows of each statement, in their order. Numbers that JSON has are numbers. */
  rows(statements: readonly string[], signal?: AbortSignal): Promise<readonly (readonly Row[])[]>;
  /** How facts of a span are read by the hour. */
  hours(): Promise<HourSources>;
}

/** Sources of exposures: of each recall exactly one of them counts. */
export interface HourSources {
  /** Recalls that `item_hour` has. */
  readonly rolled: string;
  /** Recalls that it has not; '' where it has all. */
  readonly open: string;
}
