export type {
  AdapterArena,
  AdapterLimits,
  CatalogueBuildReport,
  CatalogueState,
  KvIntegrity,
} from '@tessera/native';
export { NO_ROW, TERMINAL_CODE, TREE_OUTCOMES, TREE_SLOTS } from '@tessera/native';
export {
  type BeamTree,
  type Binding,
  type Catalogue,
  type CatalogueGeneration,
  type CatalogueItem,
  type CatalogueSummary,
  type ChangeKeeping,
  type ChangingCatalogue,
  type Completeness,
  Engine,
  type EngineAdapter,
  type EngineAnswer,
  type EngineAppended,
  type EngineAppendRequest,
  type EngineModel,
  type EngineOptions,
  type EnginePass,
  type EnginePath,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineTimings,
  type EngineUpdate,
  type EngineWork,
  type ItemFate,
  type Judgement,
  type LevelTokens,
  type ListedItem,
  NO_ITEM,
  NO_TIMINGS,
  type Priority,
  type PromptDigests,
  type Reach,
  type ScoreNorm,
  type Verdict,
} from './engine.js';
export type { EngineStats } from './engine-stats.js';
export {
  type KvChain,
  type KvFound,
  type KvMetrics,
  type KvPool,
  type KvPoolOptions,
  type KvPrefetch,
  type KvTier,
  type KvTierMetrics,
  type KvUse,
  NOTHING_FOUND,
} from './kv-pool.js';
export { configureTasks, type TaskDepth, type TaskLimits, taskDepths } from './long-tasks.js';
export { measureScales, type ScaleMeasurementRun } from './measure-scales.js';
export { readModelShape } from './model-shape.js';
export {
  type BuildProgress,
  buildCatalogue,
  type CatalogueBuild,
  type CatalogueSourceFile,
  openCatalogue,
} from './native-catalogue.js';
export { NativeEngine } from './native-engine.js';
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
