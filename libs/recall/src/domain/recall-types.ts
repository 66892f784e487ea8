/** What a recall is asked and answers, in the domain's own words; edges map wire types to these. */

import type { Priority, ScoreNorm } from '@tessera/engine';

/** A request after parsing; limits are checked by `recall()`, not by whoever maps the wire. */
export interface RecallRequest {
  /** Caller's ID, echoed; '' lets the service make one. */
  readonly requestId: string;
  /** Exactly one of userId and history is given. */
  readonly userId?: string;
  /** Item IDs, oldest first. */
  readonly history?: readonly string[];
  readonly profile: Readonly<Record<string, string>>;
  readonly scene: Readonly<Record<string, string>>;
  /** Items wanted; 0 means the configured default. */
  readonly resultCount: number;
  /** Beam width per step; empty means the configured default. */
  readonly widths: readonly number[];
  /** Items per SID at most; 0 means the configured default. */
  readonly itemsPerSid: number;
  readonly scoreNorm?: ScoreNorm;
  /** Normal where the request says nothing. */
  readonly priority?: Priority;
  /** Items of an explicit history that the catalogue does not know are left out and counted. */
  readonly skipUnknownItems: boolean;
}

/** Remaining time and the caller's wish to go on. */
export interface RecallContext {
  readonly signal: AbortSignal;
  /** Microseconds left at the moment of the call; <= 0 is refused with DEADLINE_EXCEEDED. */
  readonly budgetUs: number;
}

export interface RecalledItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  /** Log-probability of the item's SID. */
  readonly score: number;
  /** 1-based. */
  readonly rank: number;
  readonly title: string;
}

/** Microseconds per stage. */
export interface RecallTimings {
  readonly featuresUs: number;
  readonly promptUs: number;
  readonly queueUs: number;
  readonly prefillUs: number;
  readonly decodeUs: number;
  readonly headUs: number;
  readonly selectUs: number;
  readonly exportUs: number;
  readonly totalUs: number;
}

export interface RecallVersions {
  readonly model: string;
  readonly catalogue: string;
  readonly promptTemplate: string;
}

export interface RecallAnswer {
  readonly requestId: string;
  readonly items: readonly RecalledItem[];
  /** True when fewer items exist than were asked for. */
  readonly short: boolean;
  readonly widthsUsed: readonly number[];
  readonly historyItems: number;
  /** Oldest history items left out because the prompt would not fit. */
  readonly trimmedItems: number;
  readonly skippedItems: number;
  readonly promptTokens: number;
  /** Prompt tokens that another request computed. */
  readonly prefixReusedTokens: number;
  readonly versions: RecallVersions;
  readonly timings: RecallTimings;
}
