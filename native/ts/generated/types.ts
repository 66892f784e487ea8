// Generated from native/abi by tools/generate.mjs. Do not edit.

import type { ReachHandle } from '../handles.js';
import type { PackedEntries } from '../packed.js';

/** Of the descriptions that this was written from; the addon must be built from the same. */
export const ABI_DIGEST = '3e527d8dca711d92';

/** Changes of an item (docs/live-catalogue.md). */
export const CHANGE_OPS = [
  'upsert',
  'pause',
  'resume',
  'remove',
  'set_attributes',
  'set_priority',
  'patch_attributes',
] as const;
export type ChangeOp = (typeof CHANGE_OPS)[number];

/** Types of an attribute (docs/eligibility.md). */
export const DECLARED_TYPES = [
  'text',
  'set',
  'number',
  'untyped',
] as const;
export type DeclaredType = (typeof DECLARED_TYPES)[number];

/** Kinds of request, by the code of their task. */
export const REQUEST_KINDS = [
  'recall',
  'score',
  'append',
  'relevance',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** Class of a request: the more urgent goes first where requests compete. */
export const PRIORITIES = [
  'high',
  'normal',
  'low',
] as const;
export type Priority = (typeof PRIORITIES)[number];

export const SCORE_NORMS = [
  'full',
  'level',
  'allowed',
] as const;
export type ScoreNorm = (typeof SCORE_NORMS)[number];

/** How much of the search that was asked for an answer has seen. */
export const COMPLETENESS = [
  'whole',
  'narrowed',
  'cut',
] as const;
export type Completeness = (typeof COMPLETENESS)[number];

/** w8a8: the linear layers in INT8, the rest as in bf16 (docs/quantisation.md). */
export const COMPUTE_TYPES = [
  'f32',
  'bf16',
  'w8a8',
] as const;
export type ComputeType = (typeof COMPUTE_TYPES)[number];

/** w8a8-static: w8a8 with scales that a calibration has measured (docs/quantisation.md). */
export const TEXT_COMPUTE_TYPES = [
  'f32',
  'bf16',
  'w8a8',
  'w8a8-static',
] as const;
export type TextComputeType = (typeof TEXT_COMPUTE_TYPES)[number];

export const CHANGE_SYNCS = [
  'commit',
  'never',
] as const;
export type ChangeSync = (typeof CHANGE_SYNCS)[number];

/** Why the others were not accepted. */
export const SUBMIT_REASONS = [
  'none',
  'queue-full',
  'draining',
] as const;
export type SubmitReason = (typeof SUBMIT_REASONS)[number];

/** The fate of a watched item. */
export const VERDICTS = [
  'returned',
  'pruned',
  'behind-sid-cap',
  'behind-results',
  'not-eligible',
  'not-live',
  'not-in-catalogue',
  'behind-diversity-cap',
  'open',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Well; reads work, writes are refused; nothing works. */
export const STORE_HEALTHS = [
  'ok',
  'degraded',
  'down',
] as const;
export type StoreHealth = (typeof STORE_HEALTHS)[number];

/** The condition of a clause (docs/eligibility.md). */
export const CLAUSE_KINDS = [
  'all',
  'any',
  'not',
  'in',
  'contains',
  'range',
] as const;
export type ClauseKind = (typeof CLAUSE_KINDS)[number];

export const STORE_DIRECTIONS = [
  'ascending',
  'descending',
] as const;
export type StoreDirection = (typeof STORE_DIRECTIONS)[number];

/** The end of the process, or of the machine: what a write survives once it has returned. */
export const STORE_DURABILITIES = [
  'process',
  'machine',
] as const;
export type StoreDurability = (typeof STORE_DURABILITIES)[number];

/** Of what a request may say about its items; both sides check them. */
export const REACH_LIMITS = {
  clauseDepth: 16,
  clauses: 256,
  values: 4096,
  predicateTextBytes: 262144,
  listItems: 65536,
  frequencyCaps: 8,
  countedItems: 1048576,
  diversityCaps: 4,
  policyTextBytes: 4096,
} as const;

/** Bits of a row of a tree; neither of the first two: rejected. */
export const TREE_OUTCOMES = {
  goesOn: 1,
  endsHere: 2,
  atLeast: 4,
  provedOut: 8,
} as const;

/** Placeholders for an absent value. */
export const NOTHING = {
  row: 0xffffffff,
  code: 0xffffffff,
  item: 0xffffffff,
  adapter: 0xffffffff,
  binding: 0xffffffff,
} as const;

export const TREE_SLOTS = [
  'step',
  'parent',
  'code',
  'outcome',
  'items',
] as const;

export type EngineOptions = {
  /** Hugging Face folder: config.json and safetensors. */
  readonly modelPath: string;
  readonly computeType: ComputeType;
  /** File of fixed activation scales for w8a8, as measureScales writes it; '' for none. */
  readonly activationScalesPath: string;
  /** Tokens whose logits requests may want; empty: the whole vocabulary. */
  readonly headTokens: Int32Array;
  /** That computes: `cpu`, or `cuda:N` for card N of the machine. */
  readonly device: string;
  /** Compute threads, the engine's own included; >= 1. */
  readonly threadCount: number;
  /** Pinned: each keeps to a CPU of its own, and more than CPUs are refused; free: anywhere. */
  readonly threadPlacement: 'pinned' | 'free';
  /** Requests waiting or running at most; a further one is refused. */
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
  readonly batching: 'whole' | 'continuous';
  /** Of the keys and values of all running requests at most, beams included. */
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
  /** Of all adapters in memory at most; 0: no request has one. */
  readonly adapterBytesMax: number;
  /** How far back keys and values may come from (engineSucceedAdapter); 0: none does. */
  readonly kvVersionsBackMax: number;
  /** Free bytes of the file system of kvFolder below which nothing is stored there. */
  readonly kvDiskReserveBytes: number;
};

/** Prompts whose activations are measured, and where the scales are written. */
export type ScaleMeasurement = {
  readonly modelPath: string;
  readonly outputPath: string;
  readonly threadCount: number;
  /** Rows per thousand whose largest magnitude is represented whole. */
  readonly keptPerMille: number;
  /** [n + 1] into promptTokens. */
  readonly promptOffsets: Uint32Array;
  readonly promptTokens: Int32Array;
};

/** How the levels of a catalogue are written in the model's vocabulary. */
export type BindingOptions = {
  /** [levels + 1]: level l's token IDs are levelTokens[levelOffsets[l] .. levelOffsets[l + 1]). */
  readonly levelOffsets: Uint32Array;
  /** Token ID of each code; -1 where the vocabulary has no token for the code. */
  readonly levelTokens: Int32Array;
  /** Tokens that end every path, in order; may be empty. */
  readonly terminalTokens: Int32Array;
  /** Of the content that decides a prompt's tokens: keys and values are kept under these names. */
  readonly templateDigest: string;
  readonly codebookDigest: string;
};

/** Limits of an adapter. */
export type AdapterLimits = {
  /** 1..128. */
  readonly rankMax: number;
  /** Of any target: Frobenius norm of scale * B * A; above 0. */
  readonly normMax: number;
};

/** Threads of lanes, and calls that wait in each at most (bridge/lane.h). */
export type TaskLimits = {
  /** Of each lane that requests wait for. */
  readonly servingThreads: number;
  readonly servingQueueMax: number;
  /** Of each lane of rare and long calls; integrity checks have one. */
  readonly threads: number;
  readonly queueMax: number;
};

export type EmbedderOptions = {
  /** Hugging Face or SentenceTransformers folder. */
  readonly modelPath: string;
  readonly computeType: TextComputeType;
  /** Compute threads, the calling one included; >= 1. */
  readonly threadCount: number;
  /** Tokens of a pass at most. */
  readonly rowsMax: number;
  /** Texts of a pass at most. */
  readonly textsMax: number;
};

export type CatalogueBuildOptions = {
  /**
   * index.json, sid2pid.json, .jsonl or an existing snapshot; the format is detected by content.
   */
  readonly sources: readonly string[];
  /** Parallel to sources: domain given to all items of the file; '' for none. */
  readonly domains: readonly string[];
  /** Optional titles file (JSON or TSV); '' for none. */
  readonly titlesPath: string;
  /** Codes per level; empty: derived from the items. */
  readonly levelSizes: Uint32Array;
  readonly outputPath: string;
};

export type CatalogueKeepOptions = {
  /** Made where it is missing; what it holds already is gone on from. */
  readonly folder: string;
  /** When an acknowledged change lies on the device: before it is acknowledged, or whenever. */
  readonly sync: ChangeSync;
  /** Codes per level that changes may use; empty: those of the snapshot. */
  readonly levelSizes: Uint32Array;
  /** Free bytes of the file system below which no change is taken. */
  readonly reserveBytes: number;
};

export type StoreOpenOptions = {
  /** Made where it is missing; for one process. */
  readonly path: string;
  /** Free bytes of the file system below which nothing is written. */
  readonly reserveBytes: number;
};

/** The shape of a model, from config.json alone. */
export type ModelShape = {
  readonly family: string;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layerCount: number;
  readonly maxPositions: number;
  readonly parameterCount: number;
};

/** The model that serves. */
export type ModelInfo = {
  readonly family: string;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layerCount: number;
  readonly maxPositions: number;
  readonly parameterCount: number;
  readonly digest: string;
  readonly computeType: ComputeType;
  readonly kvBytesPerPosition: number;
  /** Tokens that the head computes: the vocabulary, or what was kept of it. */
  readonly headSize: number;
  /** Of memory that the packed weights take; 0 where a card has them. */
  readonly weightBytes: number;
  /**
   * Instruction set that the kernels were dispatched to: 'amx', 'avx512_bf16', 'avx512', 'avx2' or
   * 'portable'; or the name of a card.
   */
  readonly instructionSet: string;
};

export type SubmitOutcome = {
  /** Requests accepted from the front of the batch. */
  readonly accepted: number;
  readonly reason: SubmitReason;
  /** Of queue-full: when a place may be free. */
  readonly retryAfterUs: number;
};

/** Counts since the engine was opened; those up to reserved are as of now. */
export type EngineStats = {
  readonly queued: number;
  readonly running: number;
  /** Requests whose completions are still to come. */
  readonly inFlight: number;
  /** Prefetches of tickets whose requests are still being made. */
  readonly reserved: number;
  readonly submitted: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly expired: number;
  readonly prefillTokens: number;
  readonly decodeTokens: number;
  readonly forwardPasses: number;
  /** Prompt tokens that a request took from another one instead of computing them. */
  readonly prefixReusedTokens: number;
  /** Prompt tokens taken back because those they were built on failed. */
  readonly rolledBackTokens: number;
  /** Microseconds of all passes, as the cost model predicted them. */
  readonly predictedUs: number;
  /** The same as they were. */
  readonly actualUs: number;
  /** Microseconds of a pass whatever its tokens, as the cost model has them now. */
  readonly passUs: number;
  /** The same of a token without context that is computed among others. */
  readonly tokenUs: number;
  /** The same of a token and each token before it. */
  readonly tokenPairUs: number;
  /** The same until all requests that are queued or run have ended. */
  readonly backlogUs: number;
  /** Pairs of a row and an expert that it chose, of all layers and passes. */
  readonly expertRows: number;
  /** Rows of the experts' products, what pads them included. */
  readonly expertPlaces: number;
  /** Experts whose weights a layer of a pass read, each counted once. */
  readonly expertsTouched: number;
};

/**
 * For a call of one priority class that is not parsed yet. Refuse it where `waitUs` exceeds its
 * time left, or where `turnUs` is above 0 and `waitUs` exceeds `turnsShare` of its time left.
 */
export type ClassForecast = {
  /** Microseconds until the work ahead of the call is done, safety margin included. */
  readonly waitUs: number;
  /** Microseconds until the next turn of the class, while demand exceeds capacity; else 0. */
  readonly turnUs: number;
};

/** As of now. */
export type EngineForecast = {
  /** By priority: high, normal, low. */
  readonly classes: readonly ClassForecast[];
  /** Microseconds of the engine's time that an average recent request takes. */
  readonly requestUs: number;
  /** 0..1: see ClassForecast. */
  readonly turnsShare: number;
};

/** The weights that serve. */
export type WeightsUpdate = {
  readonly digest: string;
  /** Updates since the engine was opened. */
  readonly generation: number;
  /** No request was let in while those that ran came to their end. */
  readonly drainedUs: number;
  /** No request ran. */
  readonly swappedUs: number;
};

/** An expert that no measured row chose. */
export type UnseenExpert = {
  readonly layer: number;
  readonly expert: number;
};

/** Results of the measurement. */
export type MeasuredScales = {
  readonly rows: number;
  /** Their scale is the largest of their layer's other experts. */
  readonly unseen: readonly UnseenExpert[];
};

/** An adapter in the engine's arena. */
export type AdapterInfo = {
  /** Requests name it by this until it has been released as often as it was loaded. */
  readonly slot: number;
  /** Of what configuration and tensors make of the model, not of names and times. */
  readonly digest: string;
  readonly bytes: number;
  readonly rankMax: number;
  /** Matrices with low-rank factors. */
  readonly targetCount: number;
  /** Rows of the embedding and of the head; those of both count once. */
  readonly replacedRows: number;
  readonly largestNorm: number;
};

export type AdapterArena = {
  readonly usedBytes: number;
  readonly maxBytes: number;
  readonly adapters: number;
};

/** Calls of one kind (bridge/lane.h). */
export type LaneDepth = {
  readonly lane: string;
  readonly waiting: number;
  readonly running: number;
};

/** A structure that the addon reads. */
export type StructFields = {
  readonly name: string;
  readonly fields: readonly string[];
};

/** The description that the addon was built from. */
export type AbiDescription = {
  /** Of native/abi. */
  readonly digest: string;
  /** Of failures, by their number. */
  readonly codes: readonly string[];
  readonly functions: readonly string[];
  readonly structs: readonly StructFields[];
};

/** A model of texts. */
export type EmbedderInfo = {
  /** Numbers of a vector. */
  readonly dimension: number;
  /** Of a text, special ones included. */
  readonly tokensMax: number;
  readonly vocabSize: number;
  readonly layerCount: number;
  /** Of encoder and head. */
  readonly digest: string;
  /** The settings that decide bits, beside the weights. */
  readonly numbers: string;
  /** A vector is a row of logits, one per label. */
  readonly isClassifier: boolean;
  /** Vectors have length 1. */
  readonly isNormalised: boolean;
  /** Of the encoder. */
  readonly parameterCount: number;
  /** Multiplications of a token. */
  readonly rowWork: number;
  /** Multiplications of a token and one that it sees. */
  readonly pairWork: number;
  readonly weightBytes: number;
};

/** Results of a pass. */
export type EmbeddedPass = {
  /** [texts][dimension]. */
  readonly vectors: Float32Array;
  /** Microseconds that it computed, without those in which it gave way. */
  readonly computeUs: number;
};

/** Results of the measurement. */
export type MeasuredTexts = {
  /** Of the file of static scales. */
  readonly path: string;
  /** Tokens that were measured. */
  readonly rows: number;
};

export type KvTierMetrics = {
  readonly tier: string;
  readonly capacityBlocks: number;
  readonly usedBlocks: number;
  readonly hitTokens: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly readUs: number;
  readonly writtenUs: number;
  readonly evictedBlocks: number;
  /** Of them, those that no lower tier had. */
  readonly evictedDirtyBlocks: number;
};

/** Counts since the pool opened; those up to prefetching, and storeQueue, are as of now. */
export type KvMetrics = {
  readonly chains: number;
  readonly chainTokens: number;
  readonly leases: number;
  /** Prefetches that have not ended. */
  readonly prefetching: number;
  readonly lookups: number;
  readonly askedTokens: number;
  /** Found, but through a lossy codec. */
  readonly inexactTokens: number;
  /** Found, but computed under a version of the adapter before. */
  readonly inheritedTokens: number;
  /** Users' chains that passed on to a newer version of the adapter. */
  readonly inheritedChains: number;
  readonly commits: number;
  /** Of them, behind another append that had come first. */
  readonly commitsRematched: number;
  readonly commitsLost: number;
  readonly refusedExtends: number;
  readonly prefetches: number;
  readonly prefetchesRefused: number;
  readonly loadsFailed: number;
  readonly loadsCorrupt: number;
  readonly loadWaitUs: number;
  readonly stores: number;
  readonly storesDropped: number;
  readonly storesFailed: number;
  readonly storeWaitUs: number;
  readonly storeQueue: number;
  /** 0 while an error of the disk holds stores back. */
  readonly isStoring: number;
  /** Of the disk tier: 1 where its index was damaged at the start and begun anew. */
  readonly indexesDropped: number;
  /** Prefill per token without context, as the engine predicts it now. */
  readonly computeTokenUs: number;
  readonly blockBytes: number;
  /** Of a block in the host and disk tiers. */
  readonly storedBlockBytes: number;
  /** In the order of the list, all that the pool has. */
  readonly tiers: readonly KvTierMetrics[];
  /** The last error that kept blocks from being stored; '' for none. */
  readonly storeError: string;
};

/** Blocks of a user in the pool, under one version of prompts. */
export type KvChain = {
  /** Digest of model, template, codebook and layout. */
  readonly version: string;
  readonly isRetired: boolean;
  readonly seq: number;
  /** Without those of the static text below. */
  readonly tokens: number;
  readonly prefixTokens: number;
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly diskTokens: number;
  /** Tokens that a restart would find. */
  readonly durableTokens: number;
  readonly unusedUs: number;
  /** Versions between the one that computed its front and this one. */
  readonly versionsBack: number;
};

export type KvIntegrity = {
  readonly chains: number;
  readonly blocks: number;
  readonly checkedDiskBlocks: number;
  /** Given up: their bytes do not have their checksum. */
  readonly corruptDiskBlocks: number;
  readonly unreadableDiskBlocks: number;
  /** Of the pool's own accounts; empty unless there is a bug. */
  readonly faults: readonly string[];
};

/** SIDs, laid end to end. */
export type CatalogueSids = {
  /** [n + 1] into codes. */
  readonly offsets: Uint32Array;
  readonly codes: Uint32Array;
};

export type AppliedChanges = {
  /** Number of the last change, or of the version that the batch left as it was. */
  readonly sequence: number;
  /** Changes of single items that it came to, each of which has a number. */
  readonly changeCount: number;
  /** Per change with a predicate, in order: items that it let pass. */
  readonly matched: Uint32Array;
  /** Per change with a vector, in order: its SID. */
  readonly placed: CatalogueSids;
};

/** The snapshot that was opened. */
export type CatalogueInfo = {
  readonly digest: string;
  readonly depth: number;
  /** As changes may use them. */
  readonly levelSizes: readonly number[];
  /**
   * Token pattern per level as the index file wrote it, e.g. `<a_{code}>`; '' where the codes were
   * integers.
   */
  readonly levelPatterns: readonly string[];
  readonly nodeCount: number;
  readonly pathCount: number;
  readonly itemCount: number;
  readonly fileBytes: number;
};

export type CatalogueState = {
  /** Number of the last change in the newest version. */
  readonly sequence: number;
  /** Newest mark of a batch that the version holds; '' for none. */
  readonly mark: string;
  /** Of the snapshot that the newest version is made over. */
  readonly baseDigest: string;
  readonly liveItemCount: number;
  /** Items that differ from the snapshot. */
  readonly changedItemCount: number;
  readonly changesSinceSnapshot: number;
  readonly snapshotItemCount: number;
  /** Changes that catalogueKeep() found in its folder. */
  readonly replayedChanges: number;
  /** Of a write that a crash broke off, cut by catalogueKeep(). */
  readonly cutBytes: number;
};

/** The content of a version: equal contents have equal digests. */
export type CatalogueDigest = {
  /** Number of the last change of the version. */
  readonly sequence: number;
  /** Newest mark of a batch that the version holds; '' for none. */
  readonly mark: string;
  /** Of the items that are not removed: 32 hexadecimal digits. */
  readonly digest: string;
};

/** A snapshot and its log. Each version of it can be gone back to. */
export type CatalogueGeneration = {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly logBytes: number;
  readonly baseDigest: string;
};

export type CatalogueReach = {
  readonly reach: ReachHandle;
  /** Number of the last change of its version. */
  readonly sequence: number;
  /** Items of the version that frequency caps alone keep out. */
  readonly cappedItems: number;
};

/** The state of an item in a version, before any search. */
export type CatalogueJudgement = {
  /** Of that version and the eligibility. */
  readonly reach: ReachHandle;
  readonly sequence: number;
  /** Items of the version that frequency caps alone keep out. */
  readonly cappedItems: number;
  /** `open` where the item may be had. */
  readonly verdict: Verdict;
  /** Not eligible: the clause that decides. */
  readonly clause: string;
  /** Not live: the change since which. */
  readonly notLiveSince: number;
  /** Ordinal in the version; 0xFFFFFFFF where it has no such item. */
  readonly item: number;
  readonly sid: readonly number[];
};

export type ItemTexts = {
  readonly itemIds: readonly string[];
  readonly titles: readonly string[];
  readonly attributes: readonly string[];
};

/** Items of a version as columns, the removed ones left out. */
export type CatalogueListing = {
  readonly itemIds: readonly string[];
  readonly titles: readonly string[];
  readonly attributes: readonly string[];
  readonly priorities: Float64Array;
  /** 1: known, but not recalled. */
  readonly paused: Uint8Array;
  /** [n + 1] into sidCodes. */
  readonly sidOffsets: Uint32Array;
  readonly sidCodes: Uint32Array;
  /** Where to go on; 0: that was all. */
  readonly next: number;
};

/** Where a vector would go, and the live items that share most codes with it first. */
export type CatalogueLanding = {
  /** Number of the last change of the version. */
  readonly sequence: number;
  /** The nearest, whether there is room or not. */
  readonly codes: readonly number[];
  /** Per level, squared; of numbers that are float32. */
  readonly distances: Float64Array;
  /** That an item would take; empty: none has room. */
  readonly sid: readonly number[];
  readonly itemIds: readonly string[];
  readonly titles: readonly string[];
  /** [n + 1] into sidCodes. */
  readonly sidOffsets: Uint32Array;
  readonly sidCodes: Uint32Array;
  /** Per item: first codes that it has in common with `codes`. */
  readonly sharedLevels: Uint32Array;
};

export type CatalogueBuildReport = {
  readonly itemCount: number;
  readonly pathCount: number;
  readonly fileBytes: number;
  readonly seconds: number;
  readonly digest: string;
};

export type StoreState = {
  readonly health: StoreHealth;
  /** '' where it is well. */
  readonly reason: string;
};

/** Of what is damaged, what can be had (npm run repair). */
export type StoreRepair = {
  /** '' for nothing: the store is whole. */
  readonly damage: string;
  /** Writes, or number of the newest change, at least. */
  readonly acknowledged: number;
  /** Of them, from the first on. */
  readonly readable: number;
  /** Of an ordered store: gathered from tables, so that which writes are lost is not known. */
  readonly isGathered: boolean;
  /** Of an ordered store that was damaged. */
  readonly keysLeft: number;
  /** Folder with what was there before; '' where nothing was changed. */
  readonly aside: string;
};

/** A condition on the attributes of an item. Members that its kind has no use for are empty. */
export type Clause = {
  readonly kind: ClauseKind;
  /** Of in, contains and range. */
  readonly attribute: string;
  /** Of in and contains. */
  readonly values: readonly string[];
  /** Of range; minus infinity: no bound. */
  readonly min: number;
  /** Of range; infinity: no bound. */
  readonly max: number;
  /** Of all and any; one of not. */
  readonly clauses: readonly Clause[];
};

/** Texts of one attribute. */
export type PatchTexts = {
  readonly attribute: string;
  readonly texts: readonly string[];
};

export type PatchNumber = {
  readonly attribute: string;
  readonly delta: number;
};

/** Edits of attributes; each attribute is named once at most. */
export type AttributePatch = {
  /** Text of a JSON object: members put in or replaced; '' for none. */
  readonly set: string;
  /** Taken out, where they are there. */
  readonly unset: readonly string[];
  /** To sets; one that is not there begins empty. */
  readonly add: readonly PatchTexts[];
  /** From sets. */
  readonly take: readonly PatchTexts[];
  /** Added to numbers; one that is not there counts as 0. */
  readonly delta: readonly PatchNumber[];
};

export type ItemChange = {
  readonly op: ChangeOp;
  /** '' where `predicate` says which items. */
  readonly itemId: string;
  /** Of upsert; another SID than before moves the item. */
  readonly sid: readonly number[];
  /** Of upsert. */
  readonly title: string;
  /** Of upsert and set_attributes: text of a JSON object; '' for none. */
  readonly attributes: string;
  /** Of upsert and set_priority. */
  readonly priority: number;
  /** Of pause, resume, remove, patch_attributes, where no `itemId` says which items. */
  readonly predicate: Clause | undefined;
  /** Of patch_attributes. */
  readonly patch: AttributePatch;
  /** Of upsert, where there is no `sid`: it becomes that of these numbers. */
  readonly vector: Float32Array;
};

/** A part of a batch of changes. */
export type ChangeMessage = {
  readonly changes: readonly ItemChange[];
};

/** An attribute that items may have. */
export type AttributeDeclaration = {
  readonly name: string;
  readonly type: DeclaredType;
  /** Of a text or a set; empty: any. */
  readonly values: readonly string[];
};

/** All there may be. */
export type AttributeDeclarations = {
  readonly attributes: readonly AttributeDeclaration[];
};

/** Of an encoder. */
export type CodebookLayer = {
  /** (outputs, inputs) */
  readonly weights: Float32Array;
  /** (outputs) */
  readonly bias: Float32Array;
};

export type CodebookLevel = {
  /** (codes, numbers of a code) */
  readonly values: Float32Array;
};

/** Codebooks that give vectors their codes (docs/semantic-ids.md). */
export type GivenCodebooks = {
  /** Of vectors. */
  readonly dimension: number;
  /** Items that a SID takes. */
  readonly capacity: number;
  /** Before the codes; empty: none. */
  readonly encoder: readonly CodebookLayer[];
  readonly levels: readonly CodebookLevel[];
};

/** A frequency cap, and the behaviours of the user that count towards it. */
export type CountedCap = {
  /** How an explanation names it, and a refusal. */
  readonly path: string;
  /** Items that share a text of it count together; '': each item alone. */
  readonly attribute: string;
  /** Items with so many are not to be had; at least 1. */
  readonly maxBehaviours: number;
  /** Of the behaviours, each once. */
  readonly itemIds: readonly string[];
  /** Of each of these items. */
  readonly behaviours: Uint32Array;
};

/** The items that a request may get. IDs that no catalogue has are no error. */
export type Eligibility = {
  readonly predicate: Clause | undefined;
  /** These alone. */
  readonly allowed: readonly string[] | undefined;
  /** Not these. */
  readonly denied: readonly string[];
  /** Nor these. */
  readonly seen: readonly string[];
  /** Nor what is had often enough. */
  readonly caps: readonly CountedCap[];
};

/** Items of an answer that share a value of a text attribute, at most. */
export type DiversityCap = {
  readonly attribute: string;
  /** At least 1. */
  readonly maxItems: number;
};

/** How items of a SID are chosen (docs/items-of-a-sid.md). */
export type ItemPolicy = {
  /** A number attribute, highest first; '' for the priority of the items. */
  readonly orderBy: string;
  readonly diversity: readonly DiversityCap[];
};

export type ReachRequest = {
  readonly eligibility: Eligibility;
  readonly itemPolicy: ItemPolicy;
};

/** Keys in [from, to), by their bytes. */
export type StoreRange = {
  readonly from: Buffer;
  readonly to: Buffer;
  /** Entries at most. */
  readonly limit: number;
  /** Descending: from the end of the range. */
  readonly direction: StoreDirection;
};

/** Single keys, and ranges of keys. */
export type StoreQuery = {
  readonly keys: readonly Buffer[];
  readonly ranges: readonly StoreRange[];
};

export type StorePut = {
  readonly key: Buffer;
  readonly value: Buffer;
};

/** Counts whole or not at all; what is put comes after what is erased. */
export type StoreBatch = {
  readonly erased: readonly Buffer[];
  readonly put: readonly StorePut[];
  readonly durability: StoreDurability;
};

export type RequestHead = {
  /** The caller's, unique among those in flight. */
  readonly ticket: number;
  readonly kind: RequestKind;
  /** Slot of the binding; 0xFFFFFFFF: none, of kinds that need none. */
  readonly binding: number;
  /** Slot of the adapter; 0xFFFFFFFF: the base model. */
  readonly adapter: number;
  /** Remaining time. */
  readonly budgetUs: number;
};

export type RequestWork = {
  readonly priority: Priority;
  readonly promptTokens: Int32Array;
  /** The user whose keys and values are found and kept; '': the static text's alone. */
  readonly userId: string;
  /** First tokens of the prompt that are the same for all users. */
  readonly prefixTokens: number;
  /** First tokens of the prompt that the user's next one may begin with. */
  readonly keepTokens: number;
  /** Nothing that an adapter before this one computed. */
  readonly wantsExactKv: boolean;
};

/** A beam search for items. */
export type RecallRequest = {
  /** Beam width per step; the last holds for all further steps. */
  readonly widths: readonly number[];
  /** Rows of beams that a certified search computes at most; 0: a beam of `widths`. */
  readonly rowBudget: number;
  readonly resultCount: number;
  /** At most; 0: as few as fill the answer. */
  readonly itemsPerSid: number;
  readonly scoreNorm: ScoreNorm;
  /** Rather a narrower search, or what of it has finished, than no answer in time. */
  readonly allowsPartial: boolean;
  /** Ordinal of an item of the reach whose fate is asked for; NO_ITEM: none. */
  readonly watchedItem: number;
  /** Names of attributes that the items of the answer shall have. */
  readonly attributes: readonly string[];
  /** The answer lists the candidates that each step kept and first rejected. */
  readonly wantsTree: boolean;
};

/** Log-probabilities of paths. */
export type ScoreRequest = {
  readonly sids: readonly (readonly number[])[];
  readonly scoreNorm: ScoreNorm;
};

/** Logits of given tokens behind a prompt. */
export type RelevanceRequest = {
  readonly labelTokens: Int32Array;
  /** First tokens of the prompt that a request before it in the submission computes as well. */
  readonly siblingTokens: number;
  readonly scoreNorm: ScoreNorm;
};

export type StoreValue = {
  readonly isThere: boolean;
  /** '' where it is not there. */
  readonly value: Buffer;
};

/** Of one range. */
export type StoreEntries = {
  readonly entries: PackedEntries;
};

/** Results of a query. */
export type StoreFound = {
  /** Per key. */
  readonly values: readonly StoreValue[];
  readonly ranges: readonly StoreEntries[];
};

/** A finished ticket. */
export type CompletionHead = {
  readonly ticket: number;
  /** Index into AbiDescription.codes; 0: OK. */
  readonly status: number;
  /** Index into REQUEST_KINDS, where the status is OK. */
  readonly kind: number;
};

/** Why a request has no answer. */
export type Failure = {
  readonly message: string;
  /** Of a refusal for load: when a retry may succeed; 0: no hint. */
  readonly retryAfterUs: number;
};

/** Tokens found in one tier. */
export type KvTierTokens = {
  readonly tier: string;
  readonly tokens: number;
};

/** Where the keys and values of a prompt were found. */
export type KvFound = {
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly diskTokens: number;
  /** The same of every tier that the pool has. */
  readonly tiers: readonly KvTierTokens[];
  /** Some are not those computed from nothing: they came back through a lossy codec. */
  readonly lossy: boolean;
  /** Of those found, what a version of the adapter before the request's computed. */
  readonly inheritedTokens: number;
  /** Versions between the oldest of these, or of what was shared, and the request's. */
  readonly versionsBack: number;
  /** Waited for blocks on their way to the device when the request's turn had come. */
  readonly waitUs: number;
};

/** Microseconds of a request: sums over its passes, and what comes before and after them. */
export type EngineTimings = {
  readonly queueUs: number;
  /** Deciding who runs. */
  readonly planUs: number;
  readonly prefillUs: number;
  readonly decodeUs: number;
  /** Of prefill and decode: products with the layers' weights. */
  readonly projectionsUs: number;
  /** Of prefill and decode. */
  readonly attentionUs: number;
  readonly headUs: number;
  readonly selectUs: number;
  readonly forkUs: number;
  readonly exportUs: number;
  readonly totalUs: number;
};

/** Facts in an answer of any kind. */
export type AnswerFacts = {
  /** Updates of the weights before the request ran. */
  readonly weightsGeneration: number;
  /** Number of the last change of the version that was searched. */
  readonly catalogueSequence: number;
  /** Prompt tokens that other requests computed. */
  readonly prefixReusedTokens: number;
  /** Prompt tokens that the user KV pool had. */
  readonly kv: KvFound;
  readonly timings: EngineTimings;
};

export type AnswerItem = {
  readonly ordinal: number;
  /** As the version has it that the request was answered from. */
  readonly itemId: string;
  /** The same. */
  readonly title: string;
  /** JSON object of those asked for; empty: none were. */
  readonly attributes: string;
  readonly score: number;
  /** Index of the item's path. */
  readonly path: number;
};

export type AnswerPath = {
  readonly sid: readonly number[];
  /** Log-probability of the path. */
  readonly score: number;
};

/** The fate of a watched item. */
export type WatchedItem = {
  /** `open` where no item was watched. */
  readonly verdict: Verdict;
  /** From 1: of the item in the answer, or of its path among the candidates of the step. */
  readonly rank: number;
  /** Pruned: in which selection, from 0. */
  readonly step: number;
  readonly score: number;
  /** Pruned: of the last candidate that was kept in its stead. */
  readonly cutScore: number;
  /** Behind a diversity cap: its attribute. */
  readonly attribute: string;
};

/** One forward pass that a request waited for. */
export type EnginePass = {
  readonly kind: 'prefill' | 'decode';
  /** Of all requests in it. */
  readonly rows: number;
  readonly planUs: number;
  /** All layers; projections and attention are parts of it. */
  readonly forwardUs: number;
  readonly projectionsUs: number;
  readonly attentionUs: number;
  readonly headUs: number;
  readonly selectUs: number;
  readonly forkUs: number;
};

export type RecallAnswer = {
  /** Best first. */
  readonly items: readonly AnswerItem[];
  readonly paths: readonly AnswerPath[];
  /** Items of a SID at most, as it was applied. */
  readonly itemsPerSid: number;
  /** Items that a diversity cap kept out. */
  readonly leftOutByDiversity: number;
  readonly completeness: Completeness;
  /** No item that a request may get is better than those that the answer leaves out. */
  readonly certified: boolean;
  /**
   * The best score that an item missed by the search could have; -infinity where it is certified.
   */
  readonly gap: number;
  /** Rows of beams that were computed. */
  readonly rows: number;
  readonly watched: WatchedItem;
  /** Widths after capping by what is reachable, per step. */
  readonly widthsUsed: readonly number[];
  /**
   * Candidates of a search (beam::Tree): step from 0, row of its parent or NO_ROW, code or
   * TERMINAL_CODE, bits of TREE_OUTCOMES, items to be had at it or below.
   */
  readonly treeCells: Uint32Array;
  /** Of each of these. */
  readonly treeScores: Float32Array;
  /** In their order. */
  readonly passes: readonly EnginePass[];
};

export type ScoreAnswer = {
  /** One per SID, NaN where the catalogue has no such path with items. */
  readonly scores: Float32Array;
};

export type RelevanceAnswer = {
  /**
   * Of each label token; with scoreNorm `full` then the logarithm of the sum of exp(logit) over the
   * vocabulary.
   */
  readonly logits: Float32Array;
};
