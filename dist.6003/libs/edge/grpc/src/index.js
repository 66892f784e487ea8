export { callInterceptor } from "./call-interceptor.js";
export { GrpcHealth } from "./health.js";
export { grpcServer, tlsOfGrpc } from "./server.js";
export { loggedStatus } from "./status.js";
export { protoPath } from "./status-details.js";
export { invalid, text, texts } from "./wire-text.js";

//# sourceMappingURL=index.js.map