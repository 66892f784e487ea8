/**
 * The functions of the addon, in the order in which native/src/bridge registers them (those of the
 * ordered store are in store-abi.ts). Free functions, handle first, flat data; no optional
 * properties, no defaults. native/abi describes their arguments and results; the types, readers and
 * writers of both sides are generated from it.
 *
 * Inputs are copied during the call; the caller may reuse its arrays at once. Outputs are ordinary
 * objects and arrays.
 * Times cross as a remaining budget in microseconds, never as a wall clock.
 */

import type {
  AbiDescription,
  AdapterArena,
  AdapterInfo,
  AdapterLimits,
  AppliedChanges,
  BindingOptions,
  CatalogueAppraisal,
  CatalogueBuildOptions,
  CatalogueBuildReport,
  CatalogueDigest,
  CatalogueGeneration,
  CatalogueInfo,
  CatalogueJudgement,
  CatalogueKeepOptions,
  CatalogueLanding,
  CatalogueListing,
  CatalogueReach,
  CatalogueSids,
  CatalogueState,
  EmbeddedPass,
  EmbedderInfo,
  EmbedderOptions,
  EngineForecast,
  EngineOptions,
  EngineStats,
  ItemTexts,
  KvChain,
  KvIntegrity,
  KvMetrics,
  LaneDepth,
  MeasuredScales,
  MeasuredTexts,
  ModelInfo,
  ModelShape,
  ScaleMeasurement,
  SubmitOutcome,
  TaskLimits,
  WeightsUpdate,
} from './generated/types.js';
import type {
  CatalogueHandle,
  EmbedderHandle,
  EngineHandle,
  FolderLockHandle,
  ReachHandle,
  ViewHandle,
} from './handles.js';
import type { StoreAddon } from './store-abi.js';

/** In order, then the functions of StoreAddon. */
/** A call of the engine to a store of keys and values (kv/store_link.h). */
export interface StoreLinkCall {
  readonly id: number;
  readonly kind: 'find' | 'read' | 'write' | 'publish' | 'erase';
  /** 32 hexadecimal digits, as are `version` and `block`; these are empty where there is none. */
  readonly owner: string;
  readonly version: string;
  readonly block: string;
  readonly replaces: string;
  readonly gone: readonly string[];
  readonly at: number;
}

export type StoreLinkStatus = 'ok' | 'missing' | 'changed' | 'erased' | 'failed';

export interface NativeAddon extends StoreAddon {
  buildInfo(): string;
  describeAbi(): AbiDescription;

  /** Reads config.json alone; throws MODEL_NOT_FOUND or MODEL_INVALID. */
  modelShape(modelPath: string): ModelShape;
  /**
   * Loads the model on a thread of its own; rejects with a coded error. `onCompletions` is the one
   * doorbell: packed completions end to end.
   */
  engineOpen(
    options: EngineOptions,
    onCompletions: (words: Uint32Array) => void,
  ): Promise<EngineHandle>;
  engineModel(engine: EngineHandle): ModelInfo;
  /**
   * Returns the binding's slot; throws REQUEST_INVALID when tokens or levels do not fit model and
   * catalogue.
   */
  engineBind(engine: EngineHandle, catalogue: CatalogueHandle, options: BindingOptions): number;
  /** Requests in flight keep the binding they were submitted with. */
  engineUnbind(engine: EngineHandle, binding: number): void;
  /**
   * Packed requests end to end, in the first `count` of the words. `reaches` per request: null for
   * all of the newest version of the binding's catalogue.
   */
  engineSubmit(
    engine: EngineHandle,
    words: Uint32Array,
    count: number,
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
  engineStats(engine: EngineHandle): EngineStats;
  /** Predicts how long a call would wait. */
  engineForecast(engine: EngineHandle): EngineForecast;
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
   * under the ticket; engineCancel ends it where none comes. `adapter`: as RequestHead.adapter.
   */
  enginePrefetch(
    engine: EngineHandle,
    ticket: number,
    binding: number,
    user: string,
    adapter: number,
  ): void;
  kvMetrics(engine: EngineHandle): KvMetrics;
  /** True if the pool keeps anything of the user under a version that is not dropped. */
  kvHolds(engine: EngineHandle, user: string): boolean;
  /** Chains of a user, one per version of prompts under which they have any. */
  kvInspect(engine: EngineHandle, user: string): readonly KvChain[];
  /**
   * Resolves when the user is gone from disk and shared stores; rejects with DEADLINE_EXCEEDED,
   * IO_FAILED. `at`: offset of the erasure in the log of the cluster; 0 where there is none.
   */
  kvDropUser(engine: EngineHandle, user: string, budgetUs: number, at: number): Promise<void>;
  /** Finds nothing under the version any more; false when the pool does not know it. */
  kvDropVersion(engine: EngineHandle, version: string): boolean;
  /** Reads every block on disk, slowly. Rejects with CANCELLED. */
  kvCheckIntegrity(engine: EngineHandle): Promise<KvIntegrity>;
  kvCancelCheck(engine: EngineHandle): void;

  /** A link to a store that another thread will serve; its number. `limitUs`: of one call. */
  storeLinkOpen(limitUs: number): number;
  /** `ring` is called on this thread when calls wait; the result ends that. */
  storeLinkServe(link: number, ring: () => void): () => void;
  storeLinkTake(link: number): readonly StoreLinkCall[];
  /** Copy of what a write or publish carries; undefined: the engine has given the call up. */
  storeLinkBytes(link: number, call: number): Uint8Array | undefined;
  /** Copies the bytes before it returns; nothing where the call has been given up. */
  storeLinkEnd(
    link: number,
    call: number,
    status: StoreLinkStatus,
    bytes?: Uint8Array,
    text?: string,
  ): void;
  storeLinkSetAvailable(link: number, isAvailable: boolean): void;
  /** Calls under way fail. Nothing for a number that no link has. */
  storeLinkClose(link: number): void;

  /** Runs the prompts through the model and writes activation scales. */
  measureScales(options: ScaleMeasurement): Promise<MeasuredScales>;

  /**
   * Loads a model of texts on a thread of its own. Rejects with MODEL_NOT_FOUND, MODEL_INVALID,
   * MODEL_CORRUPT or ENGINE_OVERLOADED.
   */
  embedderOpen(options: EmbedderOptions): Promise<EmbedderHandle>;
  embedderInfo(embedder: EmbedderHandle): EmbedderInfo;
  /**
   * One pass over texts `offsets[i]..offsets[i + 1]` of the tokens.
   * Rejects with REQUEST_INVALID or MODEL_NOT_FINITE.
   */
  embedderEmbed(
    embedder: EmbedderHandle,
    tokens: Uint32Array,
    offsets: Uint32Array,
    seconds: Uint32Array,
  ): Promise<EmbeddedPass>;
  /**
   * Measures an encoder over texts, given likewise, and writes its static scales beside it.
   * Rejects with REQUEST_INVALID, MODEL_INVALID, MODEL_NOT_FINITE or IO_FAILED.
   */
  embedderMeasure(
    embedder: EmbedderHandle,
    tokens: Uint32Array,
    offsets: Uint32Array,
  ): Promise<MeasuredTexts>;
  /** Idempotent. Passes under way end first. */
  embedderClose(embedder: EmbedderHandle): void;

  catalogueBuild(
    options: CatalogueBuildOptions,
    onProgress: (stage: string, done: number, total: number) => void,
  ): Promise<CatalogueBuildReport>;
  catalogueOpen(path: string): Promise<CatalogueHandle>;
  catalogueInfo(catalogue: CatalogueHandle): CatalogueInfo;
  /** The newest version. It can be asked for as long as there is a handle of it. */
  catalogueView(catalogue: CatalogueHandle): ViewHandle;
  /** Ordinal in the version per item ID; NOTHING.item where it has no such item. */
  catalogueFind(view: ViewHandle, itemIds: readonly string[]): Uint32Array;
  /** Per name of an attribute 1 where an item of the version has or had it, else 0. */
  catalogueKnows(view: ViewHandle, attributes: readonly string[]): Uint32Array;
  /** Per text 1 where an item of the version has it under the attribute, or had it, else 0. */
  catalogueKnowsTexts(view: ViewHandle, texts: readonly string[], attribute: string): Uint32Array;
  catalogueSids(view: ViewHandle, ordinals: Uint32Array): CatalogueSids;
  catalogueItems(view: ViewHandle, ordinals: Uint32Array): ItemTexts;
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
   * Applies the changes of one or more packed messages, all of all or none; gives the number of the
   * last. With them is kept `mark`, of 4,096 bytes at most, also where they come to no change; ''
   * leaves the one there is. Rejects with CATALOGUE_INVALID or ITEM_NOT_FOUND naming index and
   * member, or IO_FAILED.
   */
  catalogueApply(
    catalogue: CatalogueHandle,
    messages: readonly Uint32Array[],
    mark: string,
  ): Promise<AppliedChanges>;
  /**
   * Digest of the newest version; the first costs a pass over all items, later ones the changes.
   */
  catalogueDigest(catalogue: CatalogueHandle): Promise<CatalogueDigest>;
  /**
   * From now on changes and requests are refused that name other attributes or values than those of
   * the packed declarations, one message. Gives what items have that is not declared, in words.
   * Rejects with CATALOGUE_INVALID where they have an attribute of another type.
   */
  catalogueDeclare(
    catalogue: CatalogueHandle,
    declarations: readonly Uint32Array[],
  ): Promise<readonly string[]>;
  /**
   * From now on changes may bring vectors in place of SIDs: packed codebooks, one message. Rejects
   * with CATALOGUE_INVALID.
   */
  catalogueQuantiseBy(catalogue: CatalogueHandle, codebooks: readonly Uint32Array[]): Promise<void>;
  /**
   * Where a vector would go in the newest version, and up to so many items that live near. Rejects
   * with CATALOGUE_INVALID where the codebooks do not take it or there are none.
   */
  catalogueLanding(
    catalogue: CatalogueHandle,
    vector: Float32Array,
    neighbours: number,
  ): Promise<CatalogueLanding>;
  /**
   * From now on requests may get items in their flight alone: from the time that one number
   * attribute says to that of the other, in milliseconds since 1970 (docs/concepts/eligibility.md).
   */
  catalogueFly(catalogue: CatalogueHandle, beginAttribute: string, endAttribute: string): void;
  /** Makes a new snapshot of the newest version, whose number it gives, and goes on from it. */
  catalogueCompact(catalogue: CatalogueHandle): Promise<number>;
  /** Generations that are kept, oldest first: any version of them can be gone back to. */
  catalogueVersions(catalogue: CatalogueHandle): Promise<readonly CatalogueGeneration[]>;
  /** Makes items what they were at a version; gives the number of the new version. */
  catalogueRollBack(catalogue: CatalogueHandle, sequence: number): Promise<number>;
  /**
   * The items that a packed ReachRequest (the first `count` of the words) admits, in the newest
   * version at a time, in milliseconds since 1970.
   */
  catalogueReach(
    catalogue: CatalogueHandle,
    words: Uint32Array,
    count: number,
    timeMs: number,
  ): Promise<CatalogueReach>;
  /** Items of the reach's version with ordinals in [first, first + count). */
  catalogueList(reach: ReachHandle, first: number, count: number): CatalogueListing;
  /**
   * Of these items, in their order, the first `count` that are live in the reach's version and that
   * the reach may get; `next` is 0.
   */
  catalogueFirstObtainable(
    reach: ReachHandle,
    itemIds: readonly string[],
    count: number,
  ): CatalogueListing;
  /** Items among these that are live in the reach's version, in their order; `next` is 0. */
  catalogueLiveItems(reach: ReachHandle, itemIds: readonly string[]): CatalogueListing;
  /**
   * Items of the reach's version by the valuation of a packed reach request; by that of the reach
   * where the request names none. REQUIRES: one of them does.
   * @param heads names of heads, with their numbers item by item; left out: terms of heads are
   *   not appraised
   */
  catalogueAppraise(
    reach: ReachHandle,
    itemIds: readonly string[],
    words: Uint32Array,
    count: number,
    heads?: readonly string[],
    numbers?: Float32Array,
  ): CatalogueAppraisal;
  /** Live items of the reach that its valuation excludes. */
  catalogueExcluded(reach: ReachHandle): Promise<number>;
  /**
   * From now on requests may go by these valuations, a packed ValueRequest: no others. Rejects with
   * CATALOGUE_INVALID naming the member: an attribute that no item has or that is no number.
   */
  catalogueValue(catalogue: CatalogueHandle, words: Uint32Array, count: number): Promise<void>;
  /**
   * The verdict of version `sequence` on an item; -1: the newest. Rejects with CATALOGUE_NOT_FOUND
   * if the version is not kept.
   */
  catalogueJudge(
    catalogue: CatalogueHandle,
    words: Uint32Array,
    count: number,
    itemId: string,
    sequence: number,
    timeMs: number,
  ): Promise<CatalogueJudgement>;

  /** Before the first call that takes time. */
  tasksConfigure(options: TaskLimits): void;
  tasksDepths(): readonly LaneDepth[];

  /**
   * Locks a file, made where it is missing, against other processes and further calls until
   * folderUnlock() or the end of the process. Throws STORE_INVALID where another one has it or it
   * cannot be written.
   */
  folderLock(path: string): FolderLockHandle;
  /** Idempotent. */
  folderUnlock(lock: FolderLockHandle): void;
}
