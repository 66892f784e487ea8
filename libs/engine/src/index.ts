export {
  type Binding,
  type Catalogue,
  type CatalogueItem,
  type CatalogueSummary,
  Engine,
  type EngineAnswer,
  type EngineModel,
  type EnginePath,
  type EngineRequest,
  type EngineStats,
  type EngineTimings,
  type LevelTokens,
  NO_ITEM,
  type ScoreNorm,
} from './engine.js';
export {
  type BuildProgress,
  buildCatalogue,
  type CatalogueBuild,
  type CatalogueBuildReport,
  type CatalogueSourceFile,
  openCatalogue,
} from './native-catalogue.js';
export { type EngineOptions, NativeEngine } from './native-engine.js';
