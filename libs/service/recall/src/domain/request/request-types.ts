/** Requests in the domain's own words; edges map wire types to these. */

import type { ServedAdapter } from '@tessera/adapter';
import type {
  WireExplore,
  WireFrequencyCap,
  WireRecallVersions,
  WireRelevanceGate,
  WireValuation,
} from '@tessera/contracts';
import type {
  Eligibility as EngineEligibility,
  ItemPolicy,
  Priority,
  Reach,
  ScoreNorm,
} from '@tessera/engine';
import type { Cancellation } from '@tessera/errors';

/** User and circumstances that a prompt is made of. */
export interface UserSource {
  /** Caller's ID, echoed; '' lets the service make one. */
  readonly requestId: string;
  /** Name of the catalogue; left out: the first. */
  readonly catalogue?: string;
  /** Adapter to answer with: a name, a digest or `base`; left out: the configured name. */
  readonly adapter?: string;
  /** Exactly one of userId and history is given. */
  readonly userId?: string;
  /** Item IDs, oldest first. */
  readonly history?: readonly string[];
  readonly profile: Readonly<Record<string, string>>;
  readonly scene: Readonly<Record<string, string>>;
  readonly scoreNorm?: ScoreNorm;
  /** Normal where the request says nothing. */
  readonly priority?: Priority;
  /** Items of an explicit history that the catalogue does not know are left out and counted. */
  readonly skipUnknownItems: boolean;
  /** Refuse rather than answer from profile and scene alone; left out: as is configured. */
  readonly requiresHistory?: boolean;
}

/** The conditions that a request itself names: frequency caps are counted for it. */
export type Eligibility = Omit<EngineEligibility, 'caps'>;

/** Items go by what heads say of them (docs/integrate/ranking.md). */
export interface Rank {
  /** Items that a recall finds and ranks. */
  readonly items?: number | undefined;
  /** Name or digest of the version with the heads. */
  readonly adapter: string;
  /** Its terms may be heads; left out: by the first head. */
  readonly valuation?: Valuation | undefined;
}

/** A request after parsing; limits are checked by `recall()`, not by whoever maps the wire. */
export interface RecallRequest extends UserSource {
  /** Items wanted; 0 means the configured default. */
  readonly resultCount: number;
  /** Left out: as is configured, or a beam where it has widths. */
  readonly search?: Search;
  /** Beam width per step; empty: the configured default. */
  readonly widths: readonly number[];
  /** Maximum rows of a certified search; left out: the configured default. */
  readonly rowBudget?: number;
  /** Items per SID at most; 0 means the configured default. */
  readonly itemsPerSid: number;
  /** How items of the found SIDs are chosen; left out: by priority, then item ID. */
  readonly itemPolicy?: ItemPolicy;
  /** Rather a narrower search, or what of it has finished, than DEADLINE_EXCEEDED; left out: no. */
  readonly allowPartial?: boolean;
  /** Which items it may get (docs/concepts/eligibility.md); left out: every live item. */
  readonly eligibility?: Eligibility;
  /** Caps of a recall by userId; left out or empty: the configured ones. */
  readonly frequencyCaps?: readonly FrequencyCap[];
  /** Names of attributes that the items of the answer shall carry; left out: none. */
  readonly attributes?: readonly string[];
  /** The answer is to tell what is recorded of it (`sight`); left out: not. */
  readonly wantsSight?: boolean;
  /** Gate of the edge on the answer's items; left out: none. */
  readonly relevance?: RelevanceGate;
  /** Items go by their value (docs/concepts/value.md); left out: by their score. */
  readonly valuation?: Valuation;
  /** Last places that are drawn (docs/concepts/exploration.md); left out: none. */
  readonly explore?: Explore;
  readonly rank?: Rank;
}

/** An item of the catalogue, or the SID of one. */
export type ScoreTarget = { readonly itemId: string } | { readonly sid: readonly number[] };

export interface ScoreRequest extends UserSource {
  readonly items: readonly ScoreTarget[];
  /** Items are to have their values as well; left out: not. */
  readonly valuation?: Valuation;
}

/** Items that any channel has found, eligible or not; each once. */
export interface RankRequest extends UserSource {
  readonly itemIds: readonly string[];
  /** Without `items`. */
  readonly rank: Rank;
}

/** A recall, and the item that is or is not in its answer. */
export interface ExplainRequest {
  readonly recall: RecallRequest;
  readonly itemId: string;
  /** Versions of the answer in question, for the replay; left out: the newest. */
  readonly versions?: WireRecallVersions;
}

/** Remaining time and the caller's wish to go on. */
export interface RecallContext {
  readonly signal: Cancellation;
  /** Microseconds left at the moment of the call; <= 0 is refused with DEADLINE_EXCEEDED. */
  readonly budgetUs: number;
  /** The adapter to run with, which the caller holds; left out: the base model alone. */
  readonly adapter?: ServedAdapter | undefined;
  /** That ranks, where the request wants that: held by the caller as well. */
  readonly ranker?: ServedAdapter | undefined;
  /** Asked for by the service itself: nobody asks about it later. */
  readonly isOwn?: boolean;
  /**
   * Reach of RecallServing.pin(): what the request may get, whatever eligibility and item policy it
   * names, and without frequency caps; left out: the newest version.
   */
  readonly pinned?: Reach | undefined;
}

export type FrequencyCap = WireFrequencyCap;

export type RelevanceGate = WireRelevanceGate;

export type Valuation = WireValuation;

export type Explore = WireExplore;

/**
 * How items are found (docs/concepts/search.md). `certified`: until it is proved that no other item
 * is better, or a budget of rows is spent; `beam`: the best of each step go on.
 */
export const SEARCHES = ['certified', 'beam'] as const;

export type Search = (typeof SEARCHES)[number];
