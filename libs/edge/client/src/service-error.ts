import type { ServiceError } from '@grpc/grpc-js';
import { type ErrorCode, GRPC_STATUS, type TesseraError, trailedError } from '@tessera/errors';

/** Statuses of gRPC itself, where the service said nothing. */
const TRANSPORT_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [GRPC_STATUS.CANCELLED, 'CANCELLED'],
  [GRPC_STATUS.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [GRPC_STATUS.UNAVAILABLE, 'ENGINE_UNAVAILABLE'],
  [GRPC_STATUS.UNIMPLEMENTED, 'ROUTE_NOT_FOUND'],
  [GRPC_STATUS.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE'],
]);

/** Error of a refused call, by its trailers or by its status. */
export function errorOf(error: ServiceError): TesseraError {
  return trailedError({
    message: error.details,
    trailer: (name) => error.metadata.get(name)[0]?.toString(),
    fallback: TRANSPORT_CODES.get(error.code) ?? 'INTERNAL',
    cause: error,
  });
}
