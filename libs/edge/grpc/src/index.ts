export { CallGate } from './call-gate.js';
export { type CallRules, callInterceptor } from './call-interceptor.js';
export { timeoutText } from './grpc-timeout.js';
export { GrpcHealth } from './health.js';
export type { ServedMethods } from './served-methods.js';
export { type GrpcServerSettings, grpcServer, tlsOfGrpc } from './server.js';
export { loggedStatus } from './status.js';
export { protoPath } from './status-details.js';
export { invalid, text, texts } from './wire-text.js';
