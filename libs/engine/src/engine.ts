/** The engine as the service sees it: a port with a native and a fake implementation. */

import type { Cancellation } from '@tessera/errors';
import {
  type AdapterArena,
  type AdapterInfo,
  type AdapterLimits,
  type AppliedChanges,
  type AttributeDeclaration,
  type AttributePatch,
  type CatalogueDigest,
  type CatalogueGeneration,
  type CatalogueLanding,
  type CatalogueState,
  type Eligibility,
  type EngineForecast,
  type EngineStats,
  type EngineTimings,
  type GivenCodebooks,
  type ItemChange,
  type ItemPolicy,
  type KvFound,
  type ModelInfo,
  NOTHING,
  type Priority,
  type ReachRequest,
  type RecallAnswer,
  type ScoreNorm,
  type Verdict,
  type WatchedItem,
  type WeightsUpdate,
} from '@tessera/native';
import type { CatalogueItem, CatalogueView } from './catalogue-view.js';
import type { KvPool, KvPrefetch, KvUse } from './kv-pool.js';

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
};
export const NO_POLICY: ItemPolicy = { orderBy: '', diversity: [] };
/** All live items, those of a SID in their own order. */
export const EVERY_ITEM: ReachRequest = { eligibility: NO_ELIGIBILITY, itemPolicy: NO_POLICY };

/** The judgement of a version of a catalogue on an item, before any search. */
export interface Judgement {
  /** Of the version and the eligibility: what the search is to be run with. */
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

/** An open catalogue. Its items may change; what it is bound by does not. */
export interface Catalogue {
  /** Of the snapshot that was opened; its levels as changes may use them. */
  readonly summary: CatalogueSummary;
  /** True if items are to be had in their flight alone: then a request without a reach is wrong. */
  readonly hasFlights: boolean;
  /** Of the newest version. */
  state(): CatalogueState;
  /** The newest version. */
  view(): CatalogueView;
  /**
   * Pins the newest version and finds out which of its items an eligibility
   * (docs/concepts/eligibility.md) lets pass, and how those of a SID are chosen by an item policy
   * (docs/concepts/answers.md). Rejects with REQUEST_INVALID naming the member at fault.
   */
  reach(request: ReachRequest): Promise<Reach>;
  /** Of these items, in their order, the first `count` that are live and that the reach may get. */
  firstObtainable(reach: Reach, itemIds: readonly string[], count: number): readonly ListedItem[];
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

/** Where changes are kept. */
export interface ChangeKeeping {
  readonly folder: string;
  readonly sync: 'commit' | 'never';
  /** Codes per level that changes may use; empty: those of the snapshot. */
  readonly levelSizes: readonly number[];
  readonly reserveBytes: number;
}

/** A change of an item, with the members of its kind. */
export type GivenChange = Pick<ItemChange, 'op' | 'itemId'> &
  Partial<Omit<ItemChange, 'patch'>> & { readonly patch?: Partial<AttributePatch> };

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
   * From now on changes and requests that name another attribute or value are refused, with what
   * was probably meant. Resolves with what items have that is not declared, in words; rejects with
   * CATALOGUE_INVALID where they have an attribute of another type.
   */
  declare(attributes: readonly AttributeDeclaration[]): Promise<readonly string[]>;
  /** From now on changes may bring vectors in place of SIDs. Rejects with CATALOGUE_INVALID. */
  quantiseBy(codebooks: GivenCodebooks): Promise<void>;
  /** Where a vector would go in the newest version. Rejects with CATALOGUE_INVALID. */
  landing(vector: Float32Array, neighbours: number): Promise<CatalogueLanding>;
  /** From now on reach() and judge() let items pass in their flight alone, by this clock. */
  fly(attributes: FlightAttributes, nowMs: () => number): void;
  /** True if an item with these attributes, a JSON object as text, is in its flight now. */
  isInFlight(attributes: string): boolean;
  compact(): Promise<number>;
  /** Every item of a pinned version but the removed ones, some at a time. */
  listItems(reach: Reach): Iterable<readonly ListedItem[]>;
  generations(): Promise<readonly CatalogueGeneration[]>;
  rollBack(sequence: number): Promise<number>;
}

/** Token ids of the catalogue's codes in the model's vocabulary. */
export interface LevelTokens {
  /** Per level, token id per code; -1 where the vocabulary has none. */
  readonly levels: readonly Int32Array[];
  /** Tokens that end every path, in order. */
  readonly terminal: readonly number[];
}

/** Digests of the content that decides a prompt's tokens: keys and values are kept under them. */
export interface PromptDigests {
  readonly template: string;
  readonly codebook: string;
}

/** A catalogue bound to the engine's vocabulary; requests name the binding they decode against. */
export interface Binding {
  readonly slot: number;
  readonly catalogue: Catalogue;
}

/** An adapter in the engine's arena. Requests name the one they run with. */
export type EngineAdapter = Omit<AdapterInfo, 'slot'>;

/** Members of every request to the engine. */
export interface EngineWork {
  readonly binding: Binding;
  /** Left out: the base model alone. */
  readonly adapter?: EngineAdapter | undefined;
  readonly promptTokens: Int32Array;
  readonly scoreNorm: ScoreNorm;
  readonly priority: Priority;
  /** Remaining time, microseconds. */
  readonly budgetUs: number;
  /** Absent: the pool neither finds nor keeps anything of the prompt. */
  readonly kv?: KvUse;
}

/** A search for items. */
export interface EngineRequest extends EngineWork {
  /**
   * Beam width per step; the last holds for all further steps, and for the beam that a certified
   * search goes on as where its proof is out of the budget's reach.
   */
  readonly widths: readonly number[];
  /** Rows that a certified search computes at most; 0, or left out: a beam of `widths`. */
  readonly rowBudget?: number | undefined;
  readonly resultCount: number;
  /** Items of a SID at most; 0: as few as fill the answer. */
  readonly itemsPerSid: number;
  /** Rather a narrower search, or what of it has finished, than no answer in time. */
  readonly allowsPartial?: boolean | undefined;
  /** Of the binding's catalogue; left out: all of its newest version. */
  readonly reach?: Reach | undefined;
  /** Ordinal of a live and eligible item of `reach` whose fate the answer has. */
  readonly watchedItem?: number | undefined;
  /** Names of attributes that the items of the answer shall have; left out: none. */
  readonly attributes?: readonly string[] | undefined;
  /** The answer shall have the kept and first rejected candidates of each step. */
  readonly wantsTree?: boolean | undefined;
}

/**
 * The candidates of a search in the order of its steps: those that go on, those that end, then the
 * first that were rejected. Row r is TREE_SLOTS.length cells and a score, log-probability.
 */
export interface BeamTree {
  readonly cells: Uint32Array;
  readonly scores: Float32Array;
}

/** The fate of a watched item in a search. */
export type ItemFate = WatchedItem;

/** Log-probabilities of given paths. */
export interface EngineScoreRequest extends EngineWork {
  readonly sids: readonly (readonly number[])[];
}

/** A prompt whose keys and values are computed and kept, and nothing else. */
export type EngineAppendRequest = Omit<EngineWork, 'scoreNorm'>;

/** Logits of label tokens behind a prompt. */
export interface EngineRelevanceRequest extends Omit<EngineWork, 'binding'> {
  readonly labelTokens: Int32Array;
  /** First tokens of the prompt that a request before it of the same call computes as well. */
  readonly siblingTokens: number;
}

export interface EngineLogits {
  /** Of each label token; with the norm `full` then log-sum-exp over the vocabulary. */
  readonly logits: Float32Array;
  readonly modelDigest: string;
  /** Prompt tokens that the pool had or another request computed. */
  readonly reusedTokens: number;
}

export interface EngineAppended {
  readonly kv: KvFound;
  readonly prefixReusedTokens: number;
}

export type EnginePath = RecallAnswer['paths'][number];

type SearchFacts = Omit<RecallAnswer, 'watched' | 'treeCells' | 'treeScores'>;

/** Items are at most resultCount. */
export interface EngineAnswer extends SearchFacts {
  /** Of the weights that it ran with. */
  readonly modelDigest: string;
  /** Number of the last change of the version that was searched. */
  readonly catalogueSequence: number;
  /** Of the watched item, where there was one. */
  readonly fate?: ItemFate | undefined;
  /** Where it was wanted. */
  readonly tree?: BeamTree | undefined;
  /** Prompt tokens that other requests computed. */
  readonly prefixReusedTokens: number;
  /** Prompt tokens that the user KV pool had. */
  readonly kv: KvFound;
  readonly timings: EngineTimings;
}

export interface EngineScores {
  /**
   * Per SID asked for, the score that a recall gives this path, to the last bit; undefined where
   * the catalogue has no such path with items.
   */
  readonly scores: readonly (number | undefined)[];
  /** Of the weights that it ran with. */
  readonly modelDigest: string;
  /** Number of the last change of the version that the SIDs were looked up in. */
  readonly catalogueSequence: number;
  readonly prefixReusedTokens: number;
  readonly kv: KvFound;
  readonly timings: EngineTimings;
}

/** The model as the addon describes it. */
export type EngineModel = ModelInfo;

/** The outcome of an update of the weights; the times are microseconds. */
export type EngineUpdate = WeightsUpdate;

/** Things that requests took of an engine and did not give back: all 0 while none is under way. */
export type EngineHeld = Readonly<
  Record<'tickets' | 'reservedTickets' | 'inFlight' | 'prefetches' | 'leases', number>
>;

/** DI token and port. Every method that fails throws TesseraError. */
export abstract class Engine {
  /** Its digest is that of the weights that serve now. */
  abstract readonly model: EngineModel;
  abstract readonly kvPool: KvPool;
  /** Throws REQUEST_INVALID when the tokens do not fit the model or the catalogue. */
  abstract bind(catalogue: Catalogue, tokens: LevelTokens, digests?: PromptDigests): Binding;
  abstract unbind(binding: Binding): void;
  /**
   * Rejects with ENGINE_OVERLOADED, ENGINE_UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED,
   * REQUEST_INVALID or INTERNAL.
   * An aborted signal cancels the work down to the engine. The request's prefetch is the engine's
   * from the call on, whatever becomes of the request.
   */
  abstract recall(request: EngineRequest, signal?: Cancellation): Promise<EngineAnswer>;
  /** Rejects as recall() does. */
  abstract score(request: EngineScoreRequest, signal?: Cancellation): Promise<EngineScores>;
  /** Submitted together, each with an end of its own. Each rejects as recall() does. */
  abstract relevance(
    requests: readonly EngineRelevanceRequest[],
    signal?: Cancellation,
  ): readonly Promise<EngineLogits>[];
  /** Computes what the pool has not of a user's prompt and keeps it. Rejects as recall() does. */
  abstract append(request: EngineAppendRequest, signal?: Cancellation): Promise<EngineAppended>;
  /** Begins to bring the user's keys and values to the device, for a request that is being made. */
  abstract prefetch(binding: Binding, userId: string, adapter?: EngineAdapter): KvPrefetch;
  /**
   * Reads a PEFT folder whole, which nobody changes meanwhile, checks it against model and limits
   * and packs it into the arena. Nothing serves it until a request names it; requests go on
   * meanwhile. The same content loaded twice is there once, and is released twice.
   * Rejects with ADAPTER_INVALID naming field or tensor, ADAPTER_CORRUPT, ADAPTER_NOT_FOUND or
   * ADAPTER_ARENA_FULL.
   */
  abstract loadAdapter(folder: string, limits: AdapterLimits): Promise<EngineAdapter>;
  /**
   * No new request may name it, and its keys and values are found no more; its memory is given back
   * when the last request that has it ends. Throws INTERNAL for one that was released already.
   */
  abstract releaseAdapter(adapter: EngineAdapter): void;
  /**
   * Requests with the adapter may go on with what the pool has of their users under its
   * predecessor, as far back as KvPoolOptions.versionsBackMax. Throws INTERNAL for one that is not
   * loaded.
   */
  abstract succeedAdapter(adapter: EngineAdapter, predecessor: EngineAdapter): void;
  abstract adapterArena(): AdapterArena;
  /**
   * Puts the weights of a folder, of the same configuration, in the place of those that serve:
   * between two batches, in the same memory. New requests wait until the running ones have
   * ended, for `waitMaxMs` at most. Blocks that the pool kept are not found any more.
   * Rejects with MODEL_NOT_FOUND, MODEL_INVALID, MODEL_CORRUPT, DEADLINE_EXCEEDED where those that
   * run did not end, ENGINE_OVERLOADED while another update is under way; the old weights serve on.
   */
  abstract updateWeights(folder: string, waitMaxMs: number): Promise<EngineUpdate>;
  abstract stats(): EngineStats;
  /** For a call that came now; cheap. */
  abstract forecast(): EngineForecast;
  abstract held(): EngineHeld;
  abstract drain(budgetMs: number): Promise<void>;
  abstract close(): Promise<void>;
}
