export { accessInterceptor, callerOf } from './access-interceptor.js';
export { type CallContext, callContext } from './call-context.js';
export { CallChannel } from './calls/call-channel.js';
export type { DirectHandler, DirectHandlers } from './direct/direct-method.js';
export type { DirectParts } from './direct/direct-serving.js';
export { GrpcErrorFilter, grpcStatus, loggedStatus } from './error-filter.js';
export { GrpcHealth } from './health.js';
export { refuseMalformed } from './malformed.js';
export { paced } from './paced-stream.js';
export {
  type GateSettings,
  type GrpcServerSettings,
  grpcServer,
  tlsOfGrpc,
} from './server-options.js';
export { invalid, text, texts } from './wire-text.js';
