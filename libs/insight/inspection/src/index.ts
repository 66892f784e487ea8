export {
  type ComparisonSummary,
  EXPORT_FORMATS,
  type ExportedFile,
  type ExportFormat,
  InspectionStore,
  type Note,
  type QueryColumn,
  type QueryLimits,
  type QueryResult,
  type RecordedChange,
  type SavedComparison,
  type SavedSet,
  type Shelf,
  type StoreState,
} from './domain/inspection-store.js';
export type { Pulse, PulseStage, Quantiles } from './domain/pulse.js';
export { partOf, type RecallSearch, type RecallSummary } from './domain/recall-summary.js';
export {
  askedAgain,
  type RecallSource,
  type RecordedAnswer,
  type RecordedRecall,
  type RecordReason,
} from './domain/recorded-recall.js';
export { parseWatchedUsers, type SamplingRules } from './domain/sampling.js';
export type { TreeRow } from './domain/tree-rows.js';
export { type InspectedAnswer, InspectedRecalls } from './inspected-recalls.js';
export { FactAnalysis } from './outside/fact-analysis.js';
export { FactInspectionStore } from './outside/fact-inspection-store.js';
export { serveLauncher } from './process/launcher-server.js';
export { SQL_LENGTH_MAX } from './process/queries.js';
export { serveQuery } from './process/query-worker.js';
