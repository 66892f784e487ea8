import type { Pulse } from './pulse.js';
import type { RecallSearch, RecallSummary } from './recall-summary.js';
import type { RecordableRecall } from './recordable.js';
import type { RecordedRecall } from './recorded-recall.js';

export interface QueryLimits {
  readonly rowsMax: number;
  /** Time limit of the work, once it has begun. */
  readonly timeoutMs: number;
  /** The person who wrote the query, who has a share of the places; left out: a page asks. */
  readonly asker?: string;
}

export interface QueryColumn {
  readonly name: string;
  readonly type: string;
}

export interface QueryResult {
  readonly columns: readonly QueryColumn[];
  /** Values as JSON has them; what JSON has no number for is text. */
  readonly rows: readonly (readonly unknown[])[];
  /** There are more rows than were wanted. */
  readonly isCut: boolean;
  /** Before the query ran: for a process, and for its turn. */
  readonly waitedMs: number;
  readonly milliseconds: number;
}

export const EXPORT_FORMATS = ['csv', 'parquet', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Rows on disk, the caller's until it releases them. */
export interface ExportedFile {
  readonly path: string;
  /** Aborted when nobody may read them any more: one whose data they may hold was erased. */
  readonly ended: AbortSignal;
  release(): Promise<void>;
}

/** A text that an analyst has put to a recall. */
export interface Note {
  readonly id: string;
  readonly recallId: string;
  readonly timeMs: number;
  readonly author: string;
  readonly text: string;
}

/** Recalls that an analyst has put together under a name. */
export interface SavedSet {
  readonly name: string;
  readonly timeMs: number;
  readonly author: string;
  readonly recallIds: readonly string[];
}

/** A line of a list of saved comparisons. */
export interface ComparisonSummary {
  readonly id: string;
  readonly timeMs: number;
  readonly author: string;
  /** The two sides, in words. */
  readonly title: string;
  readonly userCount: number;
  /** Mean over the users. */
  readonly overlap: number;
}

/** A comparison that has ended, with all that it found. */
export interface SavedComparison extends ComparisonSummary {
  /** Users whose recalls are in it: it goes when one of them is erased. */
  readonly userIds: readonly string[];
  /** JSON of what the page shows. */
  readonly detail: string;
}

/** Comparisons that are kept; the oldest goes when there are more. */
export const COMPARISONS_MAX = 500;

/** Changes that a catalogue took at once. */
export interface RecordedChange {
  readonly timeMs: number;
  /** Name of the catalogue; '' for the first. */
  readonly catalogue: string;
  /** Number of the last change. */
  readonly sequence: number;
  readonly changeCount: number;
  /** How many of each kind. */
  readonly ops: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly told: readonly { readonly op: string; readonly itemId: string }[];
  /** Through which edge, or from whom; '' where that is not known. */
  readonly source: string;
}

/** Work of analysts that the store keeps. Rejects with IO_FAILED. */
export interface Shelf {
  /** Notes on a recall or a comparison by its ID, oldest first. */
  notes(recallId: string): Promise<readonly Note[]>;
  addNote(note: Note): Promise<void>;
  /** False: there was none. */
  removeNote(id: string): Promise<boolean>;
  savedSets(): Promise<readonly SavedSet[]>;
  /** Takes the place of one of the same name. */
  saveSet(set: SavedSet): Promise<void>;
  /** False: there was none. */
  removeSet(name: string): Promise<boolean>;
  /** Newest first. */
  comparisons(): Promise<readonly ComparisonSummary[]>;
  /** Undefined: there is none of the ID, or it has gone. */
  comparison(id: string): Promise<(ComparisonSummary & { detail: string }) | undefined>;
  saveComparison(comparison: SavedComparison): Promise<void>;
  /** False: there was none. */
  removeComparison(id: string): Promise<boolean>;
}

export interface StoreState {
  readonly recalls: number;
  readonly items: number;
  readonly usedBytes: number;
  readonly oldestMs: number;
  readonly newestMs: number;
  /** Waiting to be written. */
  readonly queued: number;
  readonly written: number;
  readonly dropped: number;
  readonly failed: number;
}

/**
 * Port: recorded recalls. offer() never waits and never throws; the others reject with
 * REQUEST_INVALID naming the field, DEADLINE_EXCEEDED, IO_FAILED or STORE_UNAVAILABLE.
 */
export abstract class InspectionStore {
  /** False: the queue was full, and the recall is counted as dropped. */
  abstract offer(recall: RecordableRecall): boolean;
  abstract offerPulse(pulse: Pulse): boolean;
  /** False: too many wait; the numbers of those that are kept show the gap. */
  abstract offerChange(change: RecordedChange): boolean;
  /** Recalls found; those of the last two seconds may be missing. */
  abstract recalls(search: RecallSearch, signal?: AbortSignal): Promise<readonly RecallSummary[]>;
  /** Undefined: there is none of the ID, or it has gone. */
  abstract recall(id: string): Promise<RecordedRecall | undefined>;
  /** Recalls of the IDs that are there, in any order. */
  abstract recallsOf(
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly RecordedRecall[]>;
  /** Newest first. */
  abstract changes(limit: number): Promise<readonly RecordedChange[]>;
  /** Oldest first. */
  abstract pulses(fromMs: number): Promise<readonly Pulse[]>;
  /**
   * A QueryResult as JSON: one statement that only reads. Rejects with QUERY_TOO_LARGE,
   * OPERATION_BUSY and CANCELLED as well.
   */
  abstract query(sql: string, limits: QueryLimits, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * The rows of statements that the service itself makes over the facts, each a JSON array of
   * objects. Rejects as query() does.
   */
  abstract rows(
    statements: readonly string[],
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<Uint8Array>;
  /** The rows of such a statement as a file. */
  abstract exportTo(
    sql: string,
    format: ExportFormat,
    limits: QueryLimits,
    signal?: AbortSignal,
  ): Promise<ExportedFile>;
  abstract readonly shelf: Shelf;
  /**
   * Forgets all recalls of a user; how many. When it resolves, nothing that was offered before is
   * kept or will be.
   */
  abstract eraseUser(userId: string): Promise<number>;
  abstract state(): Promise<StoreState>;
  abstract close(): Promise<void>;
}
