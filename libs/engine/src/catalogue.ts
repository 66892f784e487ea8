/** Catalogues as the service sees them: a port with a native and a fake implementation. */

import {
  type AppliedChanges,
  type AttributeDeclaration,
  type AttributePatch,
  type CatalogueAppraisal,
  type CatalogueDigest,
  type CatalogueGeneration,
  type CatalogueLanding,
  type CatalogueState,
  type Eligibility,
  type GivenCodebooks,
  type ItemChange,
  type ItemPolicy,
  NOTHING,
  type ReachRequest as PackedReachRequest,
  type Valuation,
  type ValuationUse,
  type Verdict,
} from '@tessera/native';
import type { CatalogueItem, CatalogueView } from './catalogue-view.js';

export const NO_ITEM = NOTHING.item;

/** Catalogue facts that callers may need; see Catalogue. */
export interface CatalogueSummary {
  readonly digest: string;
  readonly depth: number;
  readonly levelSizes: readonly number[];
  /** Token pattern per level (`<a_{code}>`), '' where the source had integer codes. */
  readonly levelPatterns: readonly string[];
  readonly pathCount: number;
  readonly itemCount: number;
  readonly fileBytes: number;
}

/** The items that a request may find; made by Catalogue.reach() and given to the engine. */
export interface Reach {
  /** Number of the last change of the version that is pinned. */
  readonly sequence: number;
  /** Items of the version that frequency caps alone keep out. */
  readonly cappedItems: number;
}

export const NO_ELIGIBILITY: Eligibility = {
  predicate: undefined,
  allowed: undefined,
  denied: [],
  seen: [],
  caps: [],
  drawn: undefined,
};
export const NO_POLICY: ItemPolicy = { orderBy: '', diversity: [] };
/** Which items a request may find, how those of a SID are chosen, and by what they go. */
export interface ReachRequest extends Omit<PackedReachRequest, 'valuation'> {
  /** Left out: they go by their score. */
  readonly valuation?: ValuationUse | undefined;
}

/** All live items, those of a SID in their own order. */
export const EVERY_ITEM: ReachRequest = { eligibility: NO_ELIGIBILITY, itemPolicy: NO_POLICY };

/** The judgement of a version of a catalogue on an item, before any search. */
export interface Judgement {
  /** Reach of the version and the eligibility, for the search. */
  readonly reach: Reach;
  /** `open` where the item may be had: then a search tells. */
  readonly verdict: Verdict;
  /** Not eligible: the clause that decides. */
  readonly clause: string;
  /** Not live: the change since which. */
  readonly notLiveSince: number;
  /** Ordinal in the version; NO_ITEM where it has no such item. */
  readonly item: number;
  readonly sid: readonly number[];
}

/** A valuation as files define it; requests name one. Terms of heads are for ranked items alone. */
export type Formula = Valuation;

/** Numbers of heads for some items. */
export interface HeadNumbers {
  readonly names: readonly string[];
  /** Numbers of each head, item by item. */
  readonly numbers: Float32Array;
}

/** An open catalogue. Its items may change; what it is bound by does not. */
export interface Catalogue {
  /** Summary of the snapshot that was opened; its levels as changes may use them. */
  readonly summary: CatalogueSummary;
  /** True if items are to be had in their flight alone: then a request without a reach is wrong. */
  readonly hasFlights: boolean;
  /** Valuations that requests may name. */
  readonly valuations: readonly Formula[];
  /** State of the newest version. */
  state(): CatalogueState;
  /** The newest version. */
  view(): CatalogueView;
  /**
   * Pins the newest version and finds out which of its items an eligibility
   * (docs/concepts/eligibility.md) lets pass, and how those of a SID are chosen by an item policy
   * (docs/concepts/answers.md). Rejects with REQUEST_INVALID naming the member at fault.
   */
  reach(request: ReachRequest): Promise<Reach>;
  /** First `count` of these items, in their order, that are live and that the reach may get. */
  firstObtainable(reach: Reach, itemIds: readonly string[], count: number): readonly LiveItem[];
  /** Live items among these, in their order, obtainable or not. */
  liveItems(reach: Reach, itemIds: readonly string[]): readonly LiveItem[];
  /**
   * Terms of these items, in their order and in the version of the reach, by a valuation.
   * @param by left out: the valuation of the reach. REQUIRES: it has one
   * @param heads left out: terms of heads are not appraised
   */
  appraise(
    reach: Reach,
    itemIds: readonly string[],
    by?: ValuationUse,
    heads?: HeadNumbers,
  ): CatalogueAppraisal;
  /** Live and eligible items that the valuation of the reach excludes. REQUIRES: it has one. */
  excludedItems(reach: Reach): Promise<number>;
  /**
   * Pins a version by the number of its last change, or the newest, and says what it has to say of
   * an item. Rejects as reach() does, and with CATALOGUE_NOT_FOUND where the version is not kept.
   */
  judge(question: {
    readonly request: ReachRequest;
    readonly itemId: string;
    readonly sequence: number | undefined;
  }): Promise<Judgement>;
  close(): void;
}

/** Names of number attributes in milliseconds since 1970; one that is missing does not bound. */
export interface FlightAttributes {
  readonly begin: string;
  readonly end: string;
}

/** An item as a whole. */
export interface ListedItem extends CatalogueItem {
  readonly sid: readonly number[];
  readonly priority: number;
  readonly isPaused: boolean;
}

/** A live item. */
export interface LiveItem extends ListedItem {
  /** Ordinal in the version of the reach. */
  readonly ordinal: number;
}

/** Folder and rules by which changes are kept. */
export interface ChangeKeeping {
  readonly folder: string;
  readonly sync: 'commit' | 'never';
  /** Codes per level that changes may use; empty: those of the snapshot. */
  readonly levelSizes: readonly number[];
  readonly reserveBytes: number;
}

/** Lowers the bids of all items that have a text (docs/concepts/value.md). */
export interface Pace {
  readonly attribute: string;
  readonly text: string;
  /** In (0, 1]; 1 takes a pace back. */
  readonly factor: number;
}

/** A change of an item, with the members of its kind. */
export type GivenChange = Pick<ItemChange, 'op' | 'itemId'> &
  Partial<Omit<ItemChange, 'patch'>> & {
    readonly patch?: Partial<AttributePatch>;
    /** Pace that set_pace sets; its `itemId` is ''. */
    readonly pace?: Pace;
  };

/** A catalogue that can be changed while it serves. */
export interface ChangingCatalogue extends Catalogue {
  /** Why changes are not taken now; '' where they are. */
  whyNotWritten(): string;
  /** Goes on. Rejects with STORE_FULL or STORE_UNAVAILABLE. */
  recoverWriting(): Promise<void>;
  /** Before it is bound. Rejects with CATALOGUE_INVALID, CATALOGUE_CORRUPT or IO_FAILED. */
  keep(keeping: ChangeKeeping): Promise<void>;
  /**
   * The changes of one or more messages (docs/concepts/live-catalogue.md), all of all or none;
   * resolves with what they came to when they are kept and visible. A mark, a text of who calls of
   * 4,096 bytes at most, is kept with them, all or nothing, also where they come to no change: it
   * is that of state() until the next. Rejects with CATALOGUE_INVALID or ITEM_NOT_FOUND naming
   * index, counted over all, and member, or IO_FAILED.
   */
  apply(messages: readonly (readonly GivenChange[])[], mark?: string): Promise<AppliedChanges>;
  /**
   * Content of the newest version, in short: equal where the items are, however they came there.
   * The first costs a pass over all items, later ones what has changed.
   */
  digest(): Promise<CatalogueDigest>;
  /**
   * Makes changes and requests that name another attribute or value be refused, with what was
   * probably meant. Resolves with what items have that is not declared, in words; rejects with
   * CATALOGUE_INVALID where they have an attribute of another type.
   */
  declare(attributes: readonly AttributeDeclaration[]): Promise<readonly string[]>;
  /** Lets changes bring vectors in place of SIDs. Rejects with CATALOGUE_INVALID. */
  quantiseBy(codebooks: GivenCodebooks): Promise<void>;
  /** Place of a vector in the newest version. Rejects with CATALOGUE_INVALID. */
  landing(vector: Float32Array, neighbours: number): Promise<CatalogueLanding>;
  /** Makes reach() and judge() let items pass only in their flight, by this clock. */
  fly(attributes: FlightAttributes, nowMs: () => number): void;
  /**
   * Lets requests name these valuations and no others. Rejects with CATALOGUE_INVALID
   * naming the member: an attribute that no item has, or that is no number.
   */
  valueBy(valuations: readonly Formula[]): Promise<void>;
  /** True if an item with these attributes, a JSON object as text, is in its flight now. */
  isInFlight(attributes: string): boolean;
  compact(): Promise<number>;
  /** Every item of a pinned version but the removed ones, some at a time. */
  listItems(reach: Reach): Iterable<readonly ListedItem[]>;
  generations(): Promise<readonly CatalogueGeneration[]>;
  rollBack(sequence: number): Promise<number>;
}
