export type { KvCounts, KvTierCounts } from './kv-metrics.js';
export { createLog, Log, type LogFields, NestLog } from './logger.js';
export {
  type Edge,
  type EngineCounts,
  METRICS,
  Metrics,
  type RecallObservation,
} from './metrics.js';
