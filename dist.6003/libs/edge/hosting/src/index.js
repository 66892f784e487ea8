export { addBehaviourReach } from "./behaviour-reach.js";
export { erasuresCondition } from "./erasures-condition.js";
export { answerError } from "./error-filter.js";
export { host, STEP_BUDGET_MS } from "./host.js";
export { HttpCalls } from "./http-calls.js";
export { parseJsonBody } from "./json-body.js";
export { OperationsModule } from "./operations.module.js";
export { ProcessAccess, refuseOpenDoors } from "./process-access.js";
export { ServedVersions } from "./served-versions.js";
export { watchDisks } from "./spare-disk.js";
export { watchClock } from "./watch-clock.js";
export { watchTracing } from "./watch-tracing.js";
export { watchStores } from "./watched-stores.js";

//# sourceMappingURL=index.js.map