export type {
  RecallAnswer,
  RecallContext,
  RecalledItem,
  RecallRequest,
  RecallTimings,
  RecallVersions,
} from './domain/recall-types.js';
export type {
  EngineLimits,
  RecallDefaults,
  RecallRuntime,
  RecallRuntimeOptions,
  RecallRuntimeSummary,
} from './domain/runtime-types.js';
