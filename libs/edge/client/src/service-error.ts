import type { ServiceError } from '@grpc/grpc-js';
import {
  type ErrorCode,
  GRPC_STATUS,
  isConnectionLost,
  TesseraError,
  trailedError,
} from '@tessera/errors';

/** Statuses of gRPC itself, where the service said nothing. */
const TRANSPORT_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [GRPC_STATUS.CANCELLED, 'CANCELLED'],
  [GRPC_STATUS.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [GRPC_STATUS.UNIMPLEMENTED, 'ROUTE_NOT_FOUND'],
  [GRPC_STATUS.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE'],
]);

/**
 * Error of a refused call, by its trailers or by its status. A fault without a status (a channel
 * that was closed) is INTERNAL.
 */
export function errorOf(error: Partial<ServiceError> | TesseraError): TesseraError {
  if (error instanceof TesseraError) return error;
  const { code = -1, details = error.message ?? String(error), metadata } = error;
  const isLost = isConnectionLost(code, details);
  return trailedError({
    message: details,
    trailer: (name) => metadata?.get(name)[0]?.toString(),
    fallback: isLost ? 'ENGINE_UNAVAILABLE' : (TRANSPORT_CODES.get(code) ?? 'INTERNAL'),
    cause: error,
  });
}
