export { describeItems } from './domain/describe-items.js';
export { provenanceOf } from './domain/kv-provenance.js';
export { pinVersion } from './domain/pin-version.js';
export { Recall, type RecallEngine, type RecallParts } from './domain/recall.js';
export type {
  AppendAnswer,
  AppliedItemPolicy,
  DiversityCap,
  ExplainAnswer,
  ExplainRequest,
  ItemPolicy,
  ItemScore,
  KvProvenance,
  ProcessVersions,
  PromptFacts,
  RecallAnswer,
  RecallContext,
  RecalledItem,
  RecallRequest,
  RecallSight,
  RecallTimings,
  RecallVersions,
  ScoreAnswer,
  ScoreRequest,
  ScoreTarget,
  SeenItem,
  UserSource,
} from './domain/recall-types.js';
export type {
  DescribedItem,
  DroppedCache,
  EngineLimits,
  RecallDefaults,
  RecallRuntime,
  RecallRuntimeOptions,
  RecallRuntimeSummary,
  RuntimeStore,
} from './domain/runtime-types.js';
export { createRecallRuntime } from './recall-runtime.js';
