export { DUCKDB } from "./domain/dialect.js";
export { estimateTarget } from "./domain/estimates.js";
export { jaccardDistance, shapleyValues } from "./domain/shapley.js";
export { ClickHouseStore } from "./outside/clickhouse-store.js";
export { DuckdbStore } from "./outside/duckdb-store.js";
export { ad } from "./questions/ad.js";
export { composition } from "./questions/composition.js";
export { exploredTraffic, outcomesPage, REWARDS } from "./questions/explored-traffic.js";
export { items, itemsAsOf } from "./questions/items.js";
export { factSchema, kept } from "./questions/kept.js";
export { overview } from "./questions/overview.js";
export { popularity } from "./questions/popularity.js";
export { reach, unreached } from "./questions/reach.js";
export { versions } from "./questions/versions.js";

//# sourceMappingURL=index.js.map