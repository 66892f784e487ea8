/** Answers in the domain's own words; edges map wire types to these. */

import type { Arm } from '@tessera/adapter';
import type {
  WireAppliedExploration,
  WireAppliedValuation,
  WireItemValue,
  WireKvProvenance,
  WireRecallTimings,
  WireRecallVersions,
} from '@tessera/contracts';
import type { BeamTree, Completeness, ItemPolicy, Verdict } from '@tessera/engine';
import type { Search } from '../request/request-types.js';

/**
 * Why an answer was made with less than a user's history; '' where it was not. `no-features`: the
 * store of behaviours did not answer; `no-history`: nobody has behaviours of the user, or none of
 * their items is in the catalogue. `popular`: the same, and the answer has the most popular items.
 */
export type Fallback = '' | 'no-features' | 'no-history' | 'popular';

/** The judgement of heads on an item. */
export interface ItemRanking {
  /** Calibrated, by name. */
  readonly heads: Readonly<Record<string, number>>;
  /** Value by the valuation of the ranking. */
  readonly value?: ItemValue | undefined;
  /** Place in the recall, from 1; undefined of items that a caller named. */
  readonly recallRank?: number | undefined;
}

/** A ranking as it was applied. */
export interface AppliedRanking {
  /** Digest of the version with the heads, and its name. */
  readonly adapter: string;
  readonly adapterName: string;
  /** That were ranked. */
  readonly items: number;
  /** Ranked items that the valuation excludes or that are below its floor. */
  readonly leftOut: number;
  /** Names, in their order. */
  readonly heads: readonly string[];
  readonly valuation?: AppliedValuation | undefined;
}

/** The policy as it was applied. */
export interface AppliedItemPolicy extends ItemPolicy {
  readonly itemsPerSid: number;
  readonly resultCount: number;
  readonly leftOutByDiversity: number;
}

export interface RecalledItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  /** Log-probability of the item's SID. */
  readonly score: number;
  /** 1-based. */
  readonly rank: number;
  readonly title: string;
  /** Text of a JSON object of the attributes that the request names; '' where it names none. */
  readonly attributes: string;
  /** Relevance of the item's title, where the request has a gate. */
  readonly relevanceScore?: number | undefined;
  /** Value, in a recall with a valuation where the item was searched for. */
  readonly value?: ItemValue | undefined;
  /** True of a drawn item, in a recall that explores. */
  readonly explored?: boolean | undefined;
  /** Probability of its draw, the others drawn as they were; left out where that is not known. */
  readonly propensity?: number | undefined;
  readonly ranking?: ItemRanking | undefined;
}

/** True of an item in one of the drawn places. */
export const isDrawn = ({ explored }: { readonly explored?: boolean | undefined }): boolean =>
  explored === true;

/** These are renamed nowhere: proto says what they have, and what it means. */
export type RecallTimings = WireRecallTimings;

export type RecallVersions = WireRecallVersions;

export type KvProvenance = WireKvProvenance;

export type ItemValue = WireItemValue;

export type AppliedValuation = WireAppliedValuation;

export type AppliedExploration = WireAppliedExploration;

/**
 * Trust in the counts of a recall's caps. `cut`: there were more behaviours in a window than are
 * read or kept, so the count may be too low; `unavailable`: the store did not answer.
 */
export type CapsOutcome = 'exact' | 'cut' | 'unavailable';

/** The part of an answer's versions that names the process. */
export type ProcessVersions = Omit<
  RecallVersions,
  'model' | 'catalogue' | 'catalogueSequence' | 'promptTemplate' | 'adapter' | 'adapterName'
>;

/** Facts of the prompt that every answer has. */
export interface PromptFacts {
  /** Caller's ID, or one that was made. */
  readonly requestId: string;
  readonly historyItems: number;
  /** Oldest history items left out because the prompt would not fit. */
  readonly trimmedItems: number;
  readonly skippedItems: number;
  /** Why less went into the prompt than is kept of the user; '' where nothing was missing. */
  readonly fallback: Fallback;
  readonly promptTokens: number;
  /** Prompt tokens that another request computed. */
  readonly prefixReusedTokens: number;
  readonly kv: KvProvenance;
  readonly versions: RecallVersions;
  readonly timings: RecallTimings;
}

/** An item of a history, and its place in the prompt. */
export interface SeenItem {
  readonly itemId: string;
  readonly sid: readonly number[];
  /** '' where the caller gave items without actions. */
  readonly action: string;
  /** Seconds since 1970; 0 where it is not known. */
  readonly time: number;
  /** Range in the prompt, [first, end); left out: the prompt does not show the item. */
  readonly tokens?: readonly [first: number, end: number];
}

/** The part of a recall that is recorded beside its answer. */
export interface RecallSight {
  /** Oldest first; what the prompt's limits left out as well. */
  readonly history: readonly SeenItem[];
  readonly profile: Readonly<Record<string, string>>;
  readonly tree: BeamTree | undefined;
}

export interface RecallAnswer extends PromptFacts, Certificate, PricedAnswer {
  readonly items: readonly RecalledItem[];
  /** True when fewer items were found than asked for: no more exist, or no more are popular. */
  readonly short: boolean;
  readonly widthsUsed: readonly number[];
  readonly completeness: Completeness;
  readonly itemPolicy: AppliedItemPolicy;
  /** Items that its eligibility lets pass and a frequency cap keeps out. */
  readonly cappedItems: number;
  readonly unknownAttributes: readonly string[];
  /** How far the counts of its caps can be trusted; undefined: it has none. */
  readonly capsOutcome?: CapsOutcome | undefined;
  /** Valuation as applied, in a recall that has one. */
  readonly valuation?: AppliedValuation | undefined;
  /** Exploration as applied, in a recall that explores. */
  readonly exploration?: AppliedExploration | undefined;
  readonly ranking?: AppliedRanking | undefined;
  /** Why it got its adapter; left out where no choice was made for it. */
  readonly arm?: Arm;
  /** Recorded part, where the request wants it. */
  readonly sight?: RecallSight;
}

export interface ItemScore {
  /** ID as asked; '' where a SID was asked for. */
  readonly itemId: string;
  /** Empty where the item is not known. */
  readonly sid: readonly number[];
  readonly outcome: 'scored' | 'unknown';
  /** Log-probability of the SID, as a recall gives it; absent where it is not known. */
  readonly score?: number;
  /** Value of an item that the request's valuation does not exclude. */
  readonly value?: ItemValue | undefined;
}

export interface ScoreAnswer extends PromptFacts {
  /** Scores in the order of the request, one for each item. */
  readonly items: readonly ItemScore[];
}

export interface RankedItem {
  readonly itemId: string;
  /** 1-based; 0: it failed, or the valuation leaves it out. */
  readonly rank: number;
  /** Left out where it failed. */
  readonly ranking?: ItemRanking | undefined;
  /** Score of the item's SID, where the valuation weighs scores. */
  readonly score?: number | undefined;
  readonly failure?: { readonly code: 'ITEM_NOT_FOUND'; readonly message: string } | undefined;
}

export interface RankAnswer extends PromptFacts {
  /** Best first; behind them those without a rank, in the order of the request. */
  readonly items: readonly RankedItem[];
  readonly ranking: AppliedRanking;
}

export interface ExplainAnswer extends PromptFacts, PricedLoser {
  readonly itemId: string;
  /** Empty where the item is not in the catalogue. */
  readonly sid: readonly number[];
  readonly verdict: Exclude<Verdict, 'open'> | 'behind-ranked';
  /**
   * From 1. Returned: of the item in the answer; pruned: of its path in the step; behind-ranked:
   * among the ranked items.
   */
  readonly rank?: number | undefined;
  /** Pruned: in which selection, from 0. */
  readonly step?: number;
  /** Score of the path, or of its beginning when it was pruned. */
  readonly score?: number;
  /** Pruned: of the last candidate that was kept in its stead. */
  readonly cutScore?: number;
  /** Not eligible: the clause that keeps it out. */
  readonly clause?: string;
  /** Attribute of the diversity cap that keeps the item out. */
  readonly attribute?: string;
  /** Not live: the change since which. */
  readonly notLiveSince?: number;
  /** Rank, from 1, among all live items that the request may get; left out: not proved. */
  readonly exactRank?: number;
  /** In its place: the rank is this one or a later one. */
  readonly rankAtLeast?: number;
  /** Value, in a recall by value that knows the item's score. */
  readonly value?: ItemValue | undefined;
  /** Live and eligible items that the valuation excludes, in a recall by value. */
  readonly excludedItems?: number | undefined;
  /** Heads of the item, in a ranked recall that found it, and the number of ranked items. */
  readonly ranking?: ItemRanking | undefined;
  readonly rankedItems?: number | undefined;
  /** Empty where the catalogue alone decided. */
  readonly widthsUsed: readonly number[];
}

/** The outcome of keeping a user's prompt without a recall. */
export interface AppendAnswer {
  readonly requestId: string;
  readonly historyItems: number;
  readonly trimmedItems: number;
  readonly skippedItems: number;
  /** Tokens of the prompt that a later one can begin with. */
  readonly keptTokens: number;
  readonly kv: KvProvenance;
}

/** The part of an answer that says how it was searched, and what that proves. */
export interface Certificate {
  readonly search: Search;
  /** No live and eligible item that the answer leaves out is better than those in it. */
  readonly certified: boolean;
  /**
   * The best score that an item missed by the search could have; left out where the answer is
   * certified, and where nothing is known.
   */
  readonly gap?: number;
  /** Rows of beams that were computed. */
  readonly rows: number;
}

export function certificateOf(
  search: Search,
  { certified, gap, rows }: Omit<Certificate, 'search'>,
): Certificate {
  if (certified || gap === undefined || !Number.isFinite(gap)) return { search, certified, rows };
  return { search, certified, gap, rows };
}

/** Best item that an answer by value leaves out. */
export interface RunnerUp {
  /** Its ID. */
  readonly item: string;
  /** Lowest bid with which its value would be no lower than that of the last item. */
  readonly bid: number;
}

export interface PricedAnswer {
  /** Best item left out of a recall by value whose prices are known. */
  readonly runnerUp?: RunnerUp | undefined;
}

export interface PricedLoser {
  /** Lowest bid with which an item that its value kept out would be no lower. */
  readonly neededBid?: number | undefined;
}
