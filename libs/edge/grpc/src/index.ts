export { type CallRules, callerOf, callInterceptor } from './call-interceptor.js';
export { GrpcHealth } from './health.js';
export { refuseMalformed } from './malformed.js';
export { addHandlers, type ServedMethods } from './served-methods.js';
export { type GrpcServerSettings, grpcServer, tlsOfGrpc } from './server.js';
export { grpcStatus, loggedStatus } from './status.js';
export { invalid, text, texts } from './wire-text.js';
