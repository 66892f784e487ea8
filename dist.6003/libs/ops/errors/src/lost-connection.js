import { GRPC_STATUS } from "./codes.js";
/** In the words of grpc-js: the peer died, or Node ended a connection with too many resets. */ const ENDED = /RST_STREAM|Session closed/;
/** True of a call that ended with its connection, which is no status of its own in gRPC. */ export function isConnectionLost(code, details) {
    return code === GRPC_STATUS.UNAVAILABLE || code === GRPC_STATUS.INTERNAL && ENDED.test(details);
}

//# sourceMappingURL=lost-connection.js.map