export type { Clause, ItemPolicy } from '@tessera/engine';
export { provenanceOf } from './domain/answer/answer-facts.js';
export type {
  AppendAnswer,
  AppliedItemPolicy,
  ExplainAnswer,
  ItemScore,
  KvProvenance,
  ProcessVersions,
  PromptFacts,
  RankAnswer,
  RankedItem,
  RecallAnswer,
  RecalledItem,
  RecallSight,
  RecallTimings,
  RecallVersions,
  ScoreAnswer,
  SeenItem,
} from './domain/answer/answer-types.js';
export { type Certificate, certificateOf } from './domain/answer/answer-types.js';
export type { DescribedItem } from './domain/answer/describe-items.js';
export type { RecallDefaults, RecallEngine, RecallParts } from './domain/context/recall-parts.js';
export { worthOf } from './domain/phases/ranker.js';
export { eligibilityText, readEligibility } from './domain/request/eligibility-text.js';
export { TEMPERATURE_MIN } from './domain/request/exploration.js';
export { parseFrequencyCaps } from './domain/request/frequency-caps.js';
export {
  BEAM_WIDTH,
  DEFAULT_RESULT_COUNT,
  RECALL_CHOICES,
} from './domain/request/recall-choices.js';
export type {
  Eligibility,
  ExplainRequest,
  FrequencyCap,
  Rank,
  RankRequest,
  RecallContext,
  RecallRequest,
  RelevanceGate,
  ScoreRequest,
  ScoreTarget,
  UserSource,
} from './domain/request/request-types.js';
export { SEARCHES, type Search } from './domain/request/request-types.js';
export { ROW_BUDGET_MAX, rowBudgetFor } from './domain/request/search-settings.js';
export {
  type DroppedCache,
  type EngineLimits,
  type RecallFacts,
  RecallOperations,
  type RecallRuntime,
  type RecallRuntimeOptions,
  type RecallRuntimeSummary,
  type RecallServing,
  type RuntimeStore,
} from './domain/runtime-types.js';
export { UseCases } from './domain/tasks/use-cases.js';
export { createRecallRuntime } from './recall-runtime.js';
