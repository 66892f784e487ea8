/** The engine as the service sees it: a port with a native and a fake implementation. */

import type { Cancellation } from '@tessera/errors';
import type {
  AdapterArena,
  AdapterInfo,
  AdapterLimits,
  EngineForecast,
  EngineStats,
  EngineTimings,
  KvFound,
  ModelInfo,
  Priority,
  RecallAnswer,
  ScoreNorm,
  WatchedItem,
  WeightsUpdate,
} from '@tessera/native';
import type { Catalogue, Reach } from './catalogue.js';
import type { KvPool, KvPrefetch, KvUse } from './kv-pool.js';

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
  /** Reach in the binding's catalogue; left out: all of its newest version. */
  readonly reach?: Reach | undefined;
  /** Ordinal of a live and eligible item of `reach` whose fate the answer has. */
  readonly watchedItem?: number | undefined;
  /** Names of attributes that the items of the answer shall have; left out: none. */
  readonly attributes?: readonly string[] | undefined;
  /** The answer shall have the kept and first rejected candidates of each step. */
  readonly wantsTree?: boolean | undefined;
  /** Left out: no place is drawn. */
  readonly explore?: Exploration | undefined;
  /** Left out: heads say nothing of the items. Its suffixes are one, or none. */
  readonly ranking?: EngineRanking | undefined;
}

/** How items are read behind the prompt, and whose heads read them (docs/integrate/ranking.md). */
export interface EngineRanking {
  /** With heads. One that has factors and is not activated is the request's own adapter too. */
  readonly adapter: EngineAdapter;
  /** Tokens before the SID of every item. */
  readonly prefix: Int32Array;
  /** Tokens behind the SID, by item; one: of every item; none: the SID ends it. */
  readonly suffixes: readonly (readonly number[])[];
}

/** Drawn places of an answer. */
export interface Exploration {
  /** The last ones; at least 1. */
  readonly slots: number;
  readonly temperature: number;
  /** Below 2^53. */
  readonly seed: number;
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
  /** Reach in the binding's catalogue; left out: all of its newest version. */
  readonly reach?: Reach | undefined;
  readonly sids: readonly (readonly number[])[];
}

/** Heads over given items, each read behind the prompt. */
export interface EngineRankRequest extends Omit<EngineWork, 'scoreNorm'> {
  readonly reach: Reach;
  /** Ordinals of live items of the reach; at least one. */
  readonly items: Uint32Array;
  readonly ranking: EngineRanking;
}

export interface EngineRanked {
  /** The calibrated numbers of each head, item by item. */
  readonly heads: Float32Array;
  /** Digest of the weights that it ran with. */
  readonly modelDigest: string;
  readonly catalogueSequence: number;
  readonly prefixReusedTokens: number;
  readonly kv: KvFound;
  readonly timings: EngineTimings;
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
  /** Logit of each label token; with the norm `full` then log-sum-exp over the vocabulary. */
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
  /** Digest of the weights that it ran with. */
  readonly modelDigest: string;
  /** Number of the last change of the version that was searched. */
  readonly catalogueSequence: number;
  /** Fate of the watched item, where there was one. */
  readonly fate?: ItemFate | undefined;
  /** Tree of the search, where it was wanted. */
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
  /** Digest of the weights that it ran with. */
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
  /** Rejects as recall() does, and with MODEL_NOT_FINITE naming an item. */
  abstract rank(request: EngineRankRequest, signal?: Cancellation): Promise<EngineRanked>;
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
