/** Options and faces of a recall service; nothing here reads the environment. */

import type { AdapterSettings, Adapters, ServedWeights } from '@tessera/adapter';
import type {
  BehaviourLog,
  BehaviourOptions,
  BehaviourStore,
  Popularity,
  UserBehaviours,
} from '@tessera/behaviour';
import type { StoreReach } from '@tessera/breaker';
import type {
  CatalogueChanges,
  CatalogueSource,
  CatalogueSpec,
  ChangesSettings,
  ProgressListener,
} from '@tessera/catalogue';
import type {
  EngineForecast,
  EngineHeld,
  EngineModel,
  EnginePass,
  EngineStats,
  KvPool,
  KvPoolOptions,
  Reach,
} from '@tessera/engine';
import type { Erasures } from '@tessera/erasure';
import type {
  AppendAnswer,
  ExplainAnswer,
  ProcessVersions,
  RankAnswer,
  RecallAnswer,
  ScoreAnswer,
} from './answer/answer-types.js';
import type { DescribedItem } from './answer/describe-items.js';
import type { RecallDefaults } from './context/recall-parts.js';
import type { TextModels } from './item-encoders.js';
import type {
  ExplainRequest,
  RankRequest,
  RecallContext,
  RecallRequest,
  ScoreRequest,
  UserSource,
} from './request/request-types.js';

export interface EngineLimits {
  /** That computes: `cuda:N` for card N of the machine; left out: `cpu`. */
  readonly device?: string;
  /** Tokens that scores are computed of: all (left out), or those that the catalogues can use. */
  readonly vocabulary?: 'full' | 'catalogue';
  /** Compute threads, the engine's own included; >= 1. */
  readonly threadCount: number;
  /**
   * `pinned`: every thread keeps to a CPU of its own, and more threads than CPUs are refused;
   * `free`: the system places them.
   */
  /** Requests waiting or running at most. */
  readonly queueCapacity: number;
  /** Requests that share forward passes at most. */
  readonly batchRequestsMax: number;
  /** Rows of a forward pass at most; not below widthMax and scoreItemsMax. */
  readonly batchRowsMax: number;
  /** Prompt tokens computed per forward pass at most. */
  readonly prefillChunkTokens: number;
  /**
   * Microseconds that prompts may make a pass of one request; longer with several, or where passes
   * cost much whatever their rows. 0: not bounded.
   */
  readonly passTimeTargetUs: number;
  /** Requests join a running batch between passes, or wait until it has ended. */
  readonly batching: 'continuous' | 'whole';
  /** Bytes of the keys and values of all running requests at most, beams included. */
  readonly kvBytesMax: number;
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
  /** Items whose scores a request may ask for. */
  readonly scoreItemsMax: number;
}

export interface RecallRuntimeOptions {
  /** Hugging Face folder with prompt.json and the tokenizer's files. */
  readonly modelPath: string;
  readonly computeType: 'f32' | 'bf16' | 'w8a8';
  /** File of fixed activation scales for w8a8; '' where each row has its own. */
  readonly activationScalesPath: string;
  /** A snapshot alone, or importable files that make one catalogue. */
  readonly catalogueSources: readonly CatalogueSource[];
  /** JSON or TSV of titles; '' for none. */
  readonly titlesPath: string;
  /** Users' behaviours: where they are kept, or the store that has them. */
  readonly behaviours: BehaviourOptions | BehaviourStore;
  /** Folder of built snapshots. */
  readonly cacheDir: string;
  readonly changes: ChangesSettings;
  /** Text models, one of which is the encoder of the codebooks; left out: no vectors are served. */
  readonly textModels?: TextModels;
  /** Catalogues beside the first one; their changes are kept in subfolders of its folder. */
  readonly moreCatalogues: readonly CatalogueSpec[];
  readonly engine: EngineLimits;
  /** Absent: nothing is kept between requests. */
  readonly kv?: KvPoolOptions;
  readonly recall: RecallDefaults;
  /** This process, as answers name it. */
  readonly process: ProcessVersions;
  /** Absent: the base model alone serves. */
  readonly adapters?: AdapterSettings;
  /** Sets of weights that may take the place of the model's; left out: none. */
  readonly weights?: {
    readonly path: string;
    /** Milliseconds that nobody is let in for the sake of an update at most. */
    readonly waitMaxMs: number;
    /** Free bytes of the file system of `path` below which no update is done. */
    readonly reserveBytes?: number;
  };
  /** Maximum bytes of all adapters in memory; left out: unlimited. */
  readonly adapterBytesMax?: number;
  readonly onProgress: ProgressListener;
  /** Called with the forward passes of every recall. */
  readonly onPasses?: (passes: readonly EnginePass[]) => void;
  /** Called once with a key of stored profiles that have a value which the template cannot use. */
  readonly onUnusableProfile?: (key: string) => void;
}

export interface RecallRuntimeSummary {
  readonly model: EngineModel & { readonly path: string };
  readonly catalogue: {
    readonly digest: string;
    readonly itemCount: number;
    readonly pathCount: number;
    readonly depth: number;
    readonly fileBytes: number;
    /** Valuations that requests may name; one with heads for rankings alone. */
    readonly valuations?: readonly { readonly name: string; readonly hasHeads: boolean }[];
  };
  readonly promptTemplate: {
    readonly name: string;
    readonly digest: string;
    /** Keys of scenes that it shows. */
    readonly sceneKeys?: readonly string[];
  };
  readonly userCount: number | null;
}

export interface DroppedCache {
  readonly cache: 'snapshot' | 'kv-index';
  readonly reason: string;
}

/** A folder that the service writes to. */
export interface RuntimeStore {
  readonly name: string;
  /** Cheap. */
  readonly condition: () => {
    readonly state: 'ok' | 'degraded' | 'down';
    readonly reason: string;
  };
  /** Looks at the disk again and goes on writing where that had ended; may reject. */
  readonly refresh: () => Promise<void>;
}

/** Serves requests. Safe to call concurrently. */
export interface RecallServing {
  recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer>;
  /**
   * A version of the request's catalogue by the number of its last change, for recalls that have it
   * in their context and the eligibility and item policy of this request. Rejects with
   * CATALOGUE_NOT_FOUND where it is not kept.
   */
  pin(request: RecallRequest, sequence: number): Promise<Reach>;
  /** Log-probabilities of given items: exactly the scores that a recall gives them. */
  score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer>;
  /** Given items with the numbers of their heads, best first. */
  rank(request: RankRequest, context: RecallContext): Promise<RankAnswer>;
  /** The fate of an item in a recall, and the reason. */
  explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer>;
  /** Keeps a user's prompt without a recall, behind all requests that wait for answers. */
  append(request: UserSource, context: RecallContext): Promise<AppendAnswer>;
  /**
   * Forgets what is kept of the user's prompts: keys and values in every tier, and the prompts of
   * recalls to be explained. Requests that began before keep nothing of the user from the call on.
   * Rejects as KvPool.dropUser does.
   */
  forgetUser(userId: string, budgetMs: number, at?: number): Promise<void>;
  /** Users that were forgotten: requests that began before write nothing of them behind it. */
  readonly erasures: Erasures;
}

/** Changes what is served. A class, so that it can be a token of dependency injection. */
export abstract class RecallOperations {
  /**
   * Of a catalogue by its name, '' for the first.
   * @throws TesseraError REQUEST_INVALID where there is none of the name
   */
  abstract changesOf(name: string): CatalogueChanges;
  /** Names of the catalogues, '' for the first. */
  abstract readonly catalogues: readonly string[];
  /** Versions of adapters; undefined where the base model alone serves. */
  abstract readonly adapters: Adapters | undefined;
  /** Which weights serve. */
  abstract readonly weights: Pick<
    ServedWeights,
    'current' | 'update' | 'rollBack' | 'perform' | 'orderBy'
  >;
  /** Store that takes appended behaviours; undefined where a file holds all. */
  abstract readonly behaviourLog: BehaviourLog | undefined;
  /**
   * A profile to be stored.
   * @throws TesseraError REQUEST_INVALID naming a value that no prompt can show
   */
  abstract checkProfile(profile: Readonly<Record<string, string>>): void;
  abstract readonly stores: readonly RuntimeStore[];
  /** Counts what users do; undefined where nobody is answered by it. */
  abstract readonly popularity: Popularity | undefined;
}

/** Says what is served and how it fares. */
export interface RecallFacts {
  readonly summary: RecallRuntimeSummary;
  /** Caches that the start found damaged and began anew. */
  readonly droppedCaches: readonly DroppedCache[];
  /** True if the store of behaviours can be reached. */
  behaviourReach(): StoreReach;
  /** The pool of users' keys and values. */
  readonly kvPool: KvPool;
  engineStats(): EngineStats;
  /** Forecast of the engine. */
  forecast(): EngineForecast;
  /** Requests under way, and what is held of the engine though there are none; else 0. */
  heldWhileIdle(): EngineHeld & { readonly underway: number };
  /** IDs of users that can be recalled for and begin with `prefix`, in the order of the store. */
  sampleUserIds(count: number, prefix?: string): Promise<readonly string[]>;
  /** A user's profile and newest behaviours; null: nothing is known. */
  user(userId: string, behavioursMax: number): Promise<UserBehaviours | null>;
  /**
   * Items as the newest version of a catalogue has them; undefined where it has none of the ID.
   * @throws TesseraError REQUEST_INVALID where there is no catalogue of the name
   */
  describe(itemIds: readonly string[], catalogue?: string): readonly (DescribedItem | undefined)[];
}

/** A recall service that is loaded and serving, by what its callers want of it. */
export interface RecallRuntime {
  readonly serving: RecallServing;
  readonly operations: RecallOperations;
  readonly facts: RecallFacts;
  /** Refuses new recalls, finishes those accepted within the budget, cancels the rest. */
  drain(budgetMs: number): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
