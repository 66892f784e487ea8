export { addBehaviourReach } from './behaviour-reach.js';
export { answerError } from './error-filter.js';
export {
  type Hosted,
  type HostParts,
  host,
  type OwnMethods,
  type Serving,
  STEP_BUDGET_MS,
} from './host.js';
export { HttpCalls } from './http-calls.js';
export { parseJsonBody } from './json-body.js';
export { refuseQuery } from './json-methods.js';
export { OperationsModule, type OperationsOptions } from './operations.module.js';
export { type AccessConfig, ProcessAccess, refuseOpenDoors } from './process-access.js';
export { ServedVersions } from './served-versions.js';
export { watchDisks } from './spare-disk.js';
export { watchClock } from './watch-clock.js';
export { watchTracing } from './watch-tracing.js';
export { type WatchedStore, watchStores } from './watched-stores.js';
