export { ARRIVALS } from './arrivals.js';
export { Call, type CallLimits, type CallParts } from './call.js';
export type { Handler, Handlers, Read, UnaryHandler } from './handler.js';
export { LOOP_LAG } from './loop-lag.js';
export { plain, service } from './service.js';
export { asSignal, submissionOf } from './submission.js';
