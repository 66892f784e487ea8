import type { EndedRecall } from './recall-facts.js';

/** Something that a user did, as its producer reported it. */
export interface FactBehaviour {
  readonly userId: string;
  readonly itemId: string;
  readonly action: string;
  readonly timeMs: number;
  readonly scene: Readonly<Record<string, string>>;
  readonly requestId?: string | undefined;
  readonly position?: number | undefined;
}

/**
 * How facts fared: written, dropped (no room in the queue, or the process ended before they were in
 * a file) or failed (no room on disk).
 */
export type FactOutcome = 'written' | 'dropped' | 'failed';

/** Rows of a table that were lost since the start of the process. */
export interface LostRows {
  /** '': a release before this one has lost them, and did not say of which table. */
  readonly table: string;
  readonly rows: number;
  /** Time of the first loss, milliseconds since 1970. */
  readonly sinceMs: number;
}

/** Facts that are kept, and facts that were lost since the start. */
export interface FactState {
  readonly bytes: number;
  readonly files: number;
  /** Begin of the oldest file, milliseconds since 1970; 0 where there is none. */
  readonly oldestMs: number;
  /** Why nothing is written; '' where it is. */
  readonly fault: string;
  readonly lost: readonly LostRows[];
}

/** Port: takes facts and never waits, and never throws. */
export interface FactSink {
  /** False: the queue was full, which is counted. */
  offerRecall(recall: EndedRecall): boolean;
  offerBehaviours(behaviours: readonly FactBehaviour[]): void;
}
