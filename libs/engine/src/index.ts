export type {
  AdapterArena,
  AdapterLimits,
  AppliedChanges,
  AttributeDeclaration,
  CatalogueAppraisal,
  CatalogueBuildReport,
  CatalogueDigest,
  CatalogueGeneration,
  CatalogueLanding,
  CatalogueState,
  Clause,
  Completeness,
  CountedCap,
  DiversityCap,
  Eligibility,
  EmbedderInfo,
  EngineForecast,
  EnginePass,
  EngineStats,
  EngineTimings,
  GivenCodebooks,
  HeadTerm,
  ItemPolicy,
  KvChain,
  KvFound,
  KvIntegrity,
  KvMetrics,
  KvTierMetrics,
  MeasuredScales,
  Prices,
  Priority,
  Propensities,
  ScoreNorm,
  TaskLimits,
  Term,
  TextComputeType,
  Valuation,
  ValuationUse,
  Verdict,
} from '@tessera/native';
export {
  DECLARED_TYPES,
  NOTHING,
  REACH_LIMITS,
  TERM_FUNCTIONS,
  TEXT_COMPUTE_TYPES,
  TREE_OUTCOMES,
  TREE_SLOTS,
} from '@tessera/native';
export {
  type Catalogue,
  type CatalogueSummary,
  type ChangeKeeping,
  type ChangingCatalogue,
  EVERY_ITEM,
  type FlightAttributes,
  type Formula,
  type GivenChange,
  type HeadNumbers,
  type Judgement,
  type ListedItem,
  type LiveItem,
  NO_ELIGIBILITY,
  NO_ITEM,
  NO_POLICY,
  type Pace,
  type Reach,
  type ReachRequest,
} from './catalogue.js';
export type { CatalogueItem, CatalogueView, ViewedItem } from './catalogue-view.js';
export { configNote } from './config-note.js';
export {
  type BeamTree,
  type Binding,
  Engine,
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineHeld,
  type EngineLogits,
  type EngineModel,
  type EnginePath,
  type EngineRanked,
  type EngineRanking,
  type EngineRankRequest,
  type EngineRelevanceRequest,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineUpdate,
  type EngineWork,
  type Exploration,
  type ItemFate,
  type LevelTokens,
  type PromptDigests,
} from './engine.js';
export {
  ENGINE_CHOICES,
  engineLimits,
  kvOptions,
  queueCapacityFor,
  scalesIn,
} from './engine-limits.js';
export type { EngineOptions } from './engine-options.js';
export { lockFile } from './folder-lock.js';
export {
  headPool,
  type KvPool,
  type KvPoolOptions,
  type KvPrefetch,
  type KvSharing,
  type KvUse,
  NOTHING_FOUND,
} from './kv-pool.js';
export { measureScales, type ScaleMeasurementRun } from './measure-scales.js';
export { readModelShape } from './model-shape.js';
export {
  type BuildProgress,
  buildCatalogue,
  type CatalogueBuild,
  type CatalogueSourceFile,
  openCatalogue,
} from './native-catalogue.js';
export { type EmbedderOptions, NativeEmbedder } from './native-embedder.js';
export { NativeEngine } from './native-engine.js';
export { NO_TIMINGS } from './no-timings.js';
export {
  type KeyRange,
  OrderedStore,
  repairChanges,
  repairStore,
  type StoreChanges,
  type StoreCondition,
  type StoreEntry,
  type StoreOptions,
  type StoreQuery,
  StoreReading,
} from './ordered-store.js';
export { closeStoreLink, makeStoreLink, openStoreLink } from './store-link.js';
export { configureTasks, type TaskDepth, taskDepths } from './tasks.js';
export { NOTHING_HELD } from './tickets.js';
