import { GRPC_STATUS, isConnectionLost, trailedError } from "../../../ops/errors/src/index.js";
/** Statuses of gRPC itself, where the service said nothing. */ const TRANSPORT_CODES = new Map([
    [
        GRPC_STATUS.CANCELLED,
        'CANCELLED'
    ],
    [
        GRPC_STATUS.DEADLINE_EXCEEDED,
        'DEADLINE_EXCEEDED'
    ],
    [
        GRPC_STATUS.UNIMPLEMENTED,
        'ROUTE_NOT_FOUND'
    ],
    [
        GRPC_STATUS.RESOURCE_EXHAUSTED,
        'BODY_TOO_LARGE'
    ]
]);
/** Error of a refused call, by its trailers or by its status. */ export function errorOf(error) {
    const { code, details } = error;
    const isLost = isConnectionLost(code, details);
    return trailedError({
        message: details,
        trailer: (name)=>error.metadata.get(name)[0]?.toString(),
        fallback: isLost ? 'ENGINE_UNAVAILABLE' : TRANSPORT_CODES.get(code) ?? 'INTERNAL',
        cause: error
    });
}

//# sourceMappingURL=service-error.js.map