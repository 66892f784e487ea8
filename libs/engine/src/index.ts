export type { CatalogueBuildReport, CatalogueState, EngineOptions } from '@tessera/native';
export {
  type Binding,
  type Catalogue,
  type CatalogueGeneration,
  type CatalogueItem,
  type CatalogueSummary,
  type ChangeKeeping,
  type ChangingCatalogue,
  type Completeness,
  Engine,
  type EngineAnswer,
  type EngineModel,
  type EnginePass,
  type EnginePath,
  type EngineRequest,
  type EngineScoreRequest,
  type EngineScores,
  type EngineStats,
  type EngineTimings,
  type EngineWork,
  type ItemFate,
  type Judgement,
  type LevelTokens,
  NO_ITEM,
  NO_TIMINGS,
  type Priority,
  type Reach,
  type ScoreNorm,
  type Verdict,
} from './engine.js';
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
