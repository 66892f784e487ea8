export {
  DuckDbInspectionStore,
  type DuckDbStoreOptions,
  type RecordOutcome,
} from './adapters/duckdb-store.js';
export { SQL_LENGTH_MAX } from './adapters/read-only-query.js';
export {
  type ComparisonSummary,
  type ExportFormat,
  InspectionStore,
  type Note,
  type QueryColumn,
  type QueryLimits,
  type QueryResult,
  type RecallFilter,
  type RecordedChange,
  type SavedComparison,
  type SavedSet,
  type Shelf,
  type StoreState,
} from './domain/inspection-store.js';
export { PULSE_STAGES, type Pulse, type PulseStage, type Quantiles } from './domain/pulse.js';
export type {
  RecallSource,
  RecallSummary,
  RecordedAnswer,
  RecordedRecall,
  RecordReason,
} from './domain/recorded-recall.js';
export { parseWatchedUsers, type SamplingRules } from './domain/sampling.js';
export type { TreeRow } from './domain/tree-rows.js';
export { type InspectedAnswer, InspectedRecalls } from './inspected-recalls.js';
