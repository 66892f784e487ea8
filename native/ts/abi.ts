/**
 * The declarations of the addon, in the order in which native/src/bridge registers them (structures
 * of adapters are in adapter-abi.ts, of catalogues in catalogue-abi.ts, of the ordered store in
 * store-abi.ts). Free functions, handle first, flat data; no optional properties, no defaults.
 * test/contract compares this file with the addon's own `describeAbi()`.
 *
 * Inputs are copied during the call; the caller may reuse its arrays at once. Outputs are ordinary
 * arrays.
 * Times cross as a remaining budget in microseconds, never as a wall clock.
 */

import type { AdapterArena, AdapterInfo, AdapterLimits } from './adapter-abi.js';
import type {
  CatalogueBuildOptions,
  CatalogueBuildReport,
  CatalogueHandle,
  CatalogueInfo,
  CatalogueJudgement,
  CatalogueKeepOptions,
  CatalogueListing,
  CatalogueState,
  CatalogueVersions,
  ReachHandle,
} from './catalogue-abi.js';
import type { Completions } from './completions-abi.js';
import type { KvChains, KvIntegrity } from './kv-abi.js';
import type { StoreAddon } from './store-abi.js';
import type { WeightsUpdate } from './weights-abi.js';

export const ABI_VERSION = 6;

declare const engineBrand: unique symbol;
/** Opaque handle of an open engine. */
export interface EngineHandle {
  readonly [engineBrand]: true;
}

/** 0 = recall, 1 = score, 2 = append (engine::RequestKind). */
export type RequestKindCode = 0 | 1 | 2;
/** 0 = high, 1 = normal, 2 = low. */
export type PriorityCode = 0 | 1 | 2;
/** 0 = full, 1 = level, 2 = allowed (beam::ScoreNorm). */
export type ScoreNormCode = 0 | 1 | 2;

/** w8a8: the linear layers in INT8, the rest as in bf16 (docs/quantisation.md). */
export type ComputeType = 'f32' | 'bf16' | 'w8a8';
export interface EngineOptions {
  /** Hugging Face folder: config.json and safetensors. */
  readonly modelPath: string;
  readonly computeType: ComputeType;
  /** File of fixed activation scales for w8a8, as measureScales writes it; '' for none. */
  readonly activationScalesPath: string;
  /** That computes: `cpu`, or `cuda:N` for card N of the machine. */
  readonly device: string;
  /** Compute threads, the engine's own included; >= 1. */
  readonly threadCount: number;
  /** Pinned: each keeps to a CPU of its own, and more than CPUs are refused; free: anywhere. */
  readonly threadPlacement: 'pinned' | 'free';
  /** Requests waiting or running at most; a further one is refused with `queue-full`. */
  readonly queueCapacity: number;
  /** Requests that share forward passes at most. */
  readonly batchRequestsMax: number;
  /** Rows of a forward pass at most; not below widthMax and scoreItemsMax. */
  readonly batchRowsMax: number;
  /** Prompt tokens computed per forward pass at most. */
  readonly prefillChunkTokens: number;
  /**
   * Microseconds that prompts may make a pass of one request; longer with several, or where passes
   * cost much whatever their rows (ADR 0031). 0: not bounded.
   */
  readonly passTimeTargetUs: number;
  /** Requests join a running batch between passes, or wait until it has ended. */
  readonly batching: 'continuous' | 'whole';
  /** Bytes of the keys and values of all running requests at most, beams included. */
  readonly kvBytesMax: number;
  /** Off: nothing of a prompt is found or kept. */
  readonly kvPool: 'off' | 'on';
  /** Of the device tier, where the prompts of running requests lie as well. */
  readonly kvDeviceBytes: number;
  /** 0: no such tier. */
  readonly kvHostBytes: number;
  /** 0: no such tier. */
  readonly kvDiskBytes: number;
  /** Of the disk tier; made when absent, one engine at a time. */
  readonly kvFolder: string;
  readonly kvEviction: 'lru' | 'segmented-lru';
  readonly kvReadThreads: number;
  /** Users whose new blocks wait to be stored at most; further ones are not stored. */
  readonly kvStoreQueueMax: number;
  /** Users whose blocks wait to be loaded at most; further ones are computed; >= 2. */
  readonly kvPrefetchQueueMax: number;
  /** Locked: all of it is taken at once and never swapped, where the process may. */
  readonly kvMemory: 'pageable' | 'locked';
  /** How blocks are written in the host and disk tiers; `int8` changes answers. */
  readonly kvBlockCodec: 'exact' | 'int8';
  readonly promptTokensMax: number;
  readonly widthMax: number;
  readonly resultCountMax: number;
  /** Paths of a score request at most. */
  readonly scoreItemsMax: number;
  /** Bytes of all adapters in memory at most; 0: no request has one. */
  readonly adapterBytesMax: number;
  /** How far back keys and values may come from (engineSucceedAdapter); 0: none does. */
  readonly kvVersionsBackMax: number;
  /** Free bytes of the file system of kvFolder below which nothing is stored there. */
  readonly kvDiskReserveBytes: number;
}

/** What config.json alone says of a model. */
export interface ModelShape {
  readonly family: string;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layerCount: number;
  readonly maxPositions: number;
  readonly parameterCount: number;
}

export interface ModelInfo extends ModelShape {
  readonly digest: string;
  readonly computeType: ComputeType;
  readonly kvBytesPerPosition: number;
  /**
   * Instruction set that the kernels were dispatched to: 'amx', 'avx512_bf16', 'avx512', 'avx2' or
   * 'portable'.
   */
  readonly instructionSet: string;
}

/** Prompts whose activations are measured, and where the scales are written. */
export interface ScaleMeasurement {
  readonly modelPath: string;
  readonly outputPath: string;
  readonly threadCount: number;
  /** Rows per thousand whose largest magnitude is represented whole. */
  readonly keptPerMille: number;
  /** [n + 1] into promptTokens. */
  readonly promptOffsets: Uint32Array;
  readonly promptTokens: Int32Array;
}

/** How the levels of a catalogue are written in the model's vocabulary. */
export interface BindingOptions {
  /** [levels + 1]: level l's token ids are levelTokens[levelOffsets[l] .. levelOffsets[l + 1]). */
  readonly levelOffsets: Uint32Array;
  /** Token id of each code; -1 where the vocabulary has no token for the code. */
  readonly levelTokens: Int32Array;
  /** Tokens that end every path, in order; may be empty. */
  readonly terminalTokens: Int32Array;
  /** Of the content that decides a prompt's tokens: keys and values are kept under these names. */
  readonly templateDigest: string;
  readonly codebookDigest: string;
}

/**
 * A batch of requests as a structure of arrays; `tickets` are the caller's, unique among those in
 * flight.
 */
export interface SubmitBatch {
  readonly tickets: Uint32Array;
  readonly bindings: Uint32Array;
  /** Slots of adapters; 0xFFFFFFFF: the base model. */
  readonly adapters: Uint32Array;
  readonly kinds: Uint8Array;
  readonly priorities: Uint8Array;
  /** [n + 1] into promptTokens. */
  readonly promptOffsets: Uint32Array;
  readonly promptTokens: Int32Array;
  /** Whose keys and values are found and kept; '' for nobody's but the static text's. */
  readonly users: readonly string[];
  /** First tokens of the prompt that are the same for all users. */
  readonly prefixTokens: Uint32Array;
  /** First tokens of the prompt that the user's next one may begin with. */
  readonly keepTokens: Uint32Array;
  /** 1: nothing that an adapter before this one computed. */
  readonly exactKv: Uint8Array;
  /** [n + 1] into widths; a request's last width holds for all further steps. */
  readonly widthOffsets: Uint32Array;
  readonly widths: Uint32Array;
  readonly resultCounts: Uint32Array;
  readonly itemsPerSid: Uint32Array;
  /** 1: rather a narrower search, or what of it has finished, than no answer in time. */
  readonly partials: Uint8Array;
  /** Of recalls whose reach has the item: whose fate is told; 0xFFFFFFFF: none. */
  readonly watchedItems: Uint32Array;
  /** 1: what each step of a recall kept and first rejected is told. */
  readonly trees: Uint8Array;
  /** [n + 1] into the SIDs of score requests; SID s is sidCodes[codeOffsets[s]..). */
  readonly sidOffsets: Uint32Array;
  readonly codeOffsets: Uint32Array;
  readonly sidCodes: Uint32Array;
  readonly scoreNorms: Uint8Array;
  readonly budgetsUs: Float64Array;
}

export interface SubmitOutcome {
  /** Requests accepted from the front of the batch. */
  readonly accepted: number;
  readonly reason: 'ok' | 'queue-full' | 'draining';
  /** Of queue-full: when a place may be free. */
  readonly retryAfterUs: number;
}

/** engineStats writes these, in this order. */
export const STATS_SLOTS = [
  'queued',
  'running',
  'submitted',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'prefillTokens',
  'decodeTokens',
  'forwardPasses',
  'prefixReusedTokens',
  'rolledBackTokens',
  'predictedUs',
  'actualUs',
] as const;

export interface AbiDescription {
  readonly version: number;
  readonly codes: readonly string[];
  readonly functions: readonly string[];
  readonly structs: Readonly<Record<string, readonly string[]>>;
}

/** In order, then the functions of StoreAddon. */
export interface NativeAddon extends StoreAddon {
  abiVersion(): number;
  buildInfo(): string;
  describeAbi(): AbiDescription;

  /** Reads config.json alone; throws MODEL_NOT_FOUND or MODEL_INVALID. */
  modelShape(modelPath: string): ModelShape;
  /**
   * Loads the model on a thread of its own; rejects with a coded error. `onCompletions` is the one
   * doorbell.
   */
  engineOpen(
    options: EngineOptions,
    onCompletions: (completions: Completions) => void,
  ): Promise<EngineHandle>;
  engineModel(engine: EngineHandle): ModelInfo;
  /**
   * Returns the binding's slot; throws REQUEST_INVALID when tokens or levels do not fit model and
   * catalogue.
   */
  engineBind(engine: EngineHandle, catalogue: CatalogueHandle, options: BindingOptions): number;
  /** Requests in flight keep the binding they were submitted with. */
  engineUnbind(engine: EngineHandle, binding: number): void;
  /** `reaches` per request: null for all of the newest version of the binding's catalogue. */
  engineSubmit(
    engine: EngineHandle,
    batch: SubmitBatch,
    reaches: readonly (ReachHandle | null)[],
  ): SubmitOutcome;
  engineCancel(engine: EngineHandle, tickets: Uint32Array): void;
  /**
   * Refuses new requests from the call on, finishes those accepted within the budget, cancels the
   * rest.
   */
  engineDrain(engine: EngineHandle, budgetUs: number): Promise<void>;
  /** Idempotent: stop, join, discard, release. */
  engineClose(engine: EngineHandle): Promise<void>;
  engineStats(engine: EngineHandle, into: Float64Array): void;
  /**
   * Puts the weights of a folder in the place of those that serve, once the requests that run have
   * ended, which it waits for at most so long. An error leaves the old ones.
   */
  engineUpdateWeights(engine: EngineHandle, folder: string, waitUs: number): Promise<WeightsUpdate>;
  /** The weights that serve; the times are 0. */
  engineWeights(engine: EngineHandle): WeightsUpdate;

  /**
   * Reads a PEFT folder, checks it against the model and packs it, on a thread of its own. Loaded
   * twice it has one slot. Rejects with ADAPTER_NOT_FOUND, ADAPTER_INVALID, ADAPTER_CORRUPT or
   * ADAPTER_ARENA_FULL.
   */
  engineLoadAdapter(
    engine: EngineHandle,
    folder: string,
    limits: AdapterLimits,
  ): Promise<AdapterInfo>;
  /** Takes one load back. Requests in flight keep the adapter they were submitted with. */
  engineReleaseAdapter(engine: EngineHandle, slot: number): void;
  /** `slot` may go on with keys and values of `predecessor`; neither is the base model. */
  engineSucceedAdapter(engine: EngineHandle, slot: number, predecessor: number): void;
  engineAdapterArena(engine: EngineHandle): AdapterArena;

  /**
   * Begins to bring the user's keys and values to the device for the request that will be submitted
   * under the ticket; engineCancel ends it where none comes. `adapter`: as SubmitBatch.adapters.
   */
  enginePrefetch(
    engine: EngineHandle,
    ticket: number,
    binding: number,
    user: string,
    adapter: number,
  ): void;
  /** Returns what last kept blocks from being stored; '' for nothing. */
  kvMetrics(engine: EngineHandle, into: Float64Array): string;
  /** Whether anything of the user is kept under a version that is not dropped. */
  kvHolds(engine: EngineHandle, user: string): boolean;
  kvInspect(engine: EngineHandle, user: string): KvChains;
  /** Resolves when the user is gone from disk; rejects with DEADLINE_EXCEEDED, IO_FAILED. */
  kvDropUser(engine: EngineHandle, user: string, budgetUs: number): Promise<void>;
  /** Finds nothing under the version any more; false when the pool does not know it. */
  kvDropVersion(engine: EngineHandle, version: string): boolean;
  /** Reads every block on disk, slowly. Rejects with CANCELLED. */
  kvCheckIntegrity(engine: EngineHandle): Promise<KvIntegrity>;
  kvCancelCheck(engine: EngineHandle): void;

  /** Runs the prompts through the model and writes activation scales; resolves with the rows. */
  measureScales(options: ScaleMeasurement): Promise<number>;

  catalogueBuild(
    options: CatalogueBuildOptions,
    onProgress: (stage: string, done: number, total: number) => void,
  ): Promise<CatalogueBuildReport>;
  catalogueOpen(path: string): Promise<CatalogueHandle>;
  catalogueInfo(catalogue: CatalogueHandle): CatalogueInfo;
  /**
   * Ordinal per item ID in the newest version; 0xFFFFFFFF where it has no such item. Ordinals given
   * to catalogueSids and catalogueItems are those of the version that was newest here last.
   */
  catalogueFind(catalogue: CatalogueHandle, itemIds: readonly string[]): Uint32Array;
  /** SIDs of items, flattened; offsets have n + 1 entries. */
  catalogueSids(
    catalogue: CatalogueHandle,
    ordinals: Uint32Array,
  ): { readonly offsets: Uint32Array; readonly codes: Uint32Array };
  catalogueItems(
    catalogue: CatalogueHandle,
    ordinals: Uint32Array,
  ): {
    readonly itemIds: readonly string[];
    readonly titles: readonly string[];
    readonly attributes: readonly string[];
  };
  catalogueClose(catalogue: CatalogueHandle): void;

  /**
   * Keeps changes in a folder from now on, and goes on from those it has. Before the first bind and
   * the first change. Rejects with CATALOGUE_INVALID, CATALOGUE_CORRUPT or IO_FAILED.
   */
  catalogueKeep(catalogue: CatalogueHandle, options: CatalogueKeepOptions): Promise<void>;
  catalogueState(catalogue: CatalogueHandle): CatalogueState;
  /** Why changes are not taken now; '' where they are. */
  catalogueWhyNotWritten(catalogue: CatalogueHandle): string;
  /** Goes on taking changes; rejects with STORE_FULL or STORE_UNAVAILABLE. */
  catalogueRecover(catalogue: CatalogueHandle): Promise<void>;
  /**
   * Applies the changes of one or more JSON arrays, all of all or none; gives the number of the
   * last. Rejects with CATALOGUE_INVALID or ITEM_NOT_FOUND naming index and member, or IO_FAILED.
   */
  catalogueApply(catalogue: CatalogueHandle, messages: readonly string[]): Promise<number>;
  /** Makes a new snapshot of the newest version, whose number it gives, and goes on from it. */
  catalogueCompact(catalogue: CatalogueHandle): Promise<number>;
  catalogueVersions(catalogue: CatalogueHandle): Promise<CatalogueVersions>;
  /** Makes items what they were at a version; gives the number of the new version. */
  catalogueRollBack(catalogue: CatalogueHandle, sequence: number): Promise<number>;
  /**
   * What JSON objects of eligibility and item policy (docs/items-of-a-sid.md) let a request find in
   * the newest version.
   */
  catalogueReach(
    catalogue: CatalogueHandle,
    eligibility: string,
    itemPolicy: string,
  ): Promise<{ readonly reach: ReachHandle; readonly sequence: number }>;
  /** Of the reach's version: items with ordinals in [first, first + count). */
  catalogueList(reach: ReachHandle, first: number, count: number): CatalogueListing;
  /**
   * What version `sequence`, -1 for the newest, says of an item. Rejects with CATALOGUE_NOT_FOUND
   * where the version is not kept.
   */
  catalogueJudge(
    catalogue: CatalogueHandle,
    eligibility: string,
    itemPolicy: string,
    itemId: string,
    sequence: number,
  ): Promise<CatalogueJudgement>;

  /** Of each lane of long calls (LANES); before the first of them. */
  tasksConfigure(threads: number, waitingMax: number): void;
  /** Waiting and running by lane. */
  tasksDepths(): Uint32Array;
}
