export { createLog, Log, NestLog } from "./logger.js";
export { METRICS, Metrics } from "./metrics.js";
export { openTracing } from "./open-tracing.js";
export { openOutput, reportServing } from "./output.js";
export { carrierOf, NO_TRACING, Tracing } from "./tracing.js";

//# sourceMappingURL=index.js.map