/** Requests to the generator's process and its answers; both cross as JSON. */

/**
 * Recalls of a user; the same by a valuation; the same ranked by heads; recalls with appends of
 * behaviours and new bids between them.
 */
export const CALL_KINDS = ['plain', 'value', 'ranked', 'mixed'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** Gaps between calls are all alike, or exponential as those of strangers are (Poisson). */
export type Arrivals = 'even' | 'poisson';

export interface LoadPlan {
  readonly address: string;
  readonly userIds: readonly string[];
  /** Plain where absent. */
  readonly kind?: CallKind;
  /** Items that mixed calls write about. */
  readonly itemIds?: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Calls a second, whatever becomes of them; or so many callers that each wait for an answer. */
  readonly open?: { readonly rate: number; readonly arrivals?: Arrivals };
  readonly closed?: { readonly callers: number };
  /** A call's deadline is drawn evenly between these. */
  readonly deadlineMs: readonly [number, number];
  /** Numbers of the enum Priority of the request, in turn. */
  readonly priorities: readonly number[];
  readonly seed: number;
  /** Of every call, beside those that it must have. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Read the answers' own timings, when the load is over. */
  readonly readsTimings?: boolean;
}

/** One good answer, in milliseconds. */
export interface AnswerTimes {
  /** By the caller's clock. */
  readonly ms: number;
  /** Of it from the hand-over to the engine until the items are described. */
  readonly engineMs: number;
  /** Of that what the engine's own clocks have seen: waiting, passes, selection, export. */
  readonly stagesMs: number;
  /** Of that the passes of the model, its head and the selection. */
  readonly arithmeticMs: number;
  /** From the request as it was parsed to the answer before it is written. */
  readonly recallMs: number;
}

/** The outcomes of the recalls of one priority, or of the writes between them. */
export interface ClassOutcome {
  offered: number;
  /** Answered with OK inside the deadline, by the caller's clock. */
  good: number;
  /** Answered with OK after the deadline. */
  late: number;
  /** The service did not take it: RESOURCE_EXHAUSTED, UNAVAILABLE or REFUSED_STREAM. */
  refused: number;
  /** The service took it and ended it without an answer: DEADLINE_EXCEEDED. */
  expired: number;
  /** Nothing was answered until the deadline, and the caller cancelled. */
  timedOut: number;
  /**
   * The limits of the connection had kept the call in its caller until less time was left than a
   * refusal may take, and it was not answered in time: neither taken nor refused.
   */
  unsent: number;
  /** Ended by the transport: resets, lost connections. */
  broken: number;
  /** Any other status. */
  other: number;
}

export interface LoadOutcome {
  readonly seconds: number;
  readonly byPriority: Readonly<Record<string, ClassOutcome>>;
  readonly writes: ClassOutcome;
  /** Milliseconds of the calls that were answered with OK inside their deadline, sorted. */
  readonly goodMs: readonly number[];
  /** Milliseconds from sending a call to its refusal, sorted. */
  readonly refusedMs: readonly number[];
  /** OK answers inside the deadline by whole second of the run. */
  readonly goodBySecond: readonly number[];
  /** In the order of their ends; empty without readsTimings. */
  readonly answers: readonly AnswerTimes[];
  /** Milliseconds between the moments at which an open load's calls were due and begun, sorted. */
  readonly arrivalLateMs: readonly number[];
  /** Connections that the service closed; each was opened anew. */
  readonly lostConnections: number;
  /** CPU of the generator, seconds. */
  readonly cpuSeconds: number;
}
