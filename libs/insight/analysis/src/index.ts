export type { AnalysisStore, HourSources, Row } from './domain/analysis-store.js';
export type * from './domain/answers.js';
export { type Dialect, DUCKDB } from './domain/dialect.js';
export { estimateTarget } from './domain/estimates.js';
export type { AnalysisFilter } from './domain/filter.js';
export type { LoggedItem, LoggedRecall } from './domain/logged-recall.js';
export type { OutcomeActions } from './domain/outcomes.js';
export { jaccardDistance, shapleyValues } from './domain/shapley.js';
export { rateOf } from './domain/statistics.js';
export {
  TABLE_NAMES,
  type TableColumn,
  type TableName,
  type TablePage,
  type TableRow,
} from './domain/table-page.js';
export { type ClickHouseAddress, ClickHouseStore } from './outside/clickhouse-store.js';
export { DuckdbStore } from './outside/duckdb-store.js';
export { ad } from './questions/ad.js';
export { composition } from './questions/composition.js';
export {
  type ExploredTraffic,
  exploredTraffic,
  outcomesPage,
  REWARDS,
  type Reward,
} from './questions/explored-traffic.js';
export { items, itemsAsOf } from './questions/items.js';
export { factSchema, kept } from './questions/kept.js';
export { overview } from './questions/overview.js';
export { type Popularity, popularity } from './questions/popularity.js';
export type { Asking } from './questions/question.js';
export { reach, unreached } from './questions/reach.js';
export { TABLES } from './questions/tables/tables.js';
export { versions } from './questions/versions.js';
