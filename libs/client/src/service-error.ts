import type { ServiceError } from '@grpc/grpc-js';
import { type ErrorCode, GRPC_STATUS, isErrorCode, TesseraError } from '@tessera/errors';

/** Statuses of gRPC itself, where the service said nothing. */
const TRANSPORT_CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [GRPC_STATUS.CANCELLED, 'CANCELLED'],
  [GRPC_STATUS.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [GRPC_STATUS.UNAVAILABLE, 'ENGINE_UNAVAILABLE'],
  [GRPC_STATUS.UNIMPLEMENTED, 'ROUTE_NOT_FOUND'],
  [GRPC_STATUS.RESOURCE_EXHAUSTED, 'BODY_TOO_LARGE'],
]);

/** What a service refused a call with, by its trailers or by its status. */
export function errorOf(error: ServiceError): TesseraError {
  const trailer = (name: string) => error.metadata.get(`tessera-${name}`)[0]?.toString();
  const said = trailer('code');
  const code =
    said !== undefined && isErrorCode(said)
      ? said
      : (TRANSPORT_CODES.get(error.code) ?? 'INTERNAL');
  const retryAfter = trailer('retry-after-ms');
  return new TesseraError(code, error.details, {
    field: trailer('field'),
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
    cause: error,
  });
}
