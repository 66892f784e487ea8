export type { Clause, ItemPolicy } from '@tessera/engine';
export { type Certificate, certificateOf, SEARCHES, type Search } from './domain/certificate.js';
export { describeItems } from './domain/describe-items.js';
export { eligibilityText, readEligibility } from './domain/eligibility-json.js';
export { provenanceOf } from './domain/kv-provenance.js';
export { parseFrequencyCaps } from './domain/parse-frequency-caps.js';
export { pinVersion } from './domain/pin-version.js';
export { DEFAULT_RESULT_COUNT, RECALL_CHOICES } from './domain/recall-choices.js';
export type { RecallEngine, RecallParts } from './domain/recall-parts.js';
export type {
  AppendAnswer,
  AppliedItemPolicy,
  Eligibility,
  ExplainAnswer,
  ExplainRequest,
  FrequencyCap,
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
  RelevanceGate,
  ScoreAnswer,
  ScoreRequest,
  ScoreTarget,
  SeenItem,
  UserSource,
} from './domain/recall-types.js';
export {
  type DescribedItem,
  type DroppedCache,
  type EngineLimits,
  type RecallDefaults,
  type RecallFacts,
  RecallOperations,
  type RecallRuntime,
  type RecallRuntimeOptions,
  type RecallRuntimeSummary,
  type RecallServing,
  type RuntimeStore,
} from './domain/runtime-types.js';
export { ROW_BUDGET_MAX, rowBudgetFor } from './domain/search-settings.js';
export { UseCases } from './domain/use-cases.js';
export { createRecallRuntime } from './recall-runtime.js';
