export type { Clause, ItemPolicy } from '@tessera/engine';
export { describeItems } from './domain/answer-facts.js';
export { ROW_BUDGET_MAX, rowBudgetFor } from './domain/check-request.js';
export { TEMPERATURE_MIN } from './domain/exploration.js';
export { parseFrequencyCaps } from './domain/frequency-caps.js';
export { provenanceOf } from './domain/preparation.js';
export { worthOf } from './domain/ranking.js';
export { eligibilityText, pinVersion, readEligibility } from './domain/reach-request.js';
export { BEAM_WIDTH, DEFAULT_RESULT_COUNT, RECALL_CHOICES } from './domain/recall-choices.js';
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
  Rank,
  RankAnswer,
  RankedItem,
  RankRequest,
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
export { type Certificate, certificateOf, SEARCHES, type Search } from './domain/recall-types.js';
export type { RecallEngine, RecallParts } from './domain/runtime-types.js';
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
export { UseCases } from './domain/use-cases.js';
export { createRecallRuntime } from './recall-runtime.js';
