export type {
  RecallAnswer,
  RecallContext,
  RecalledItem,
  RecallRequest,
  RecallTimings,
  RecallVersions,
} from './domain/recall-types.js';
export type {
  CatalogueSource,
  EngineLimits,
  ProgressListener,
  RecallDefaults,
  RecallRuntime,
  RecallRuntimeOptions,
  RecallRuntimeSummary,
} from './domain/runtime-types.js';
