export type { AccessCounts } from './access-metrics.js';
export type { Edge, Observation } from './answered.js';
export type { ClusterCounts, ForwardedObservation } from './cluster-metrics.js';
export type { EngineCounts } from './engine-metrics.js';
export { type HeldCounts, registerHeldCallers } from './held-metric.js';
export type { KvCounts, KvTierCounts } from './kv-metrics.js';
export { createLog, Log, type LogFields, NestLog } from './logger.js';
export { METRICS, Metrics, type RecallObservation } from './metrics.js';
export { openTracing } from './open-tracing.js';
export { type Output, openOutput, reportServing } from './output.js';
export type { SplitCounts } from './split-metrics.js';
export {
  type Carrier,
  carrierOf,
  NO_TRACING,
  type OpenSpan,
  type SpanAttributes,
  type TimedSpan,
  Tracing,
} from './tracing.js';
export { leadMetrics } from './worker-metrics.js';
