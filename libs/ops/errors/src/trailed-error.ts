import { ERROR_TRAILERS, type ErrorCode, isErrorCode } from './codes.js';
import { TesseraError } from './tessera-error.js';

/** Refusal of a gRPC call by a service, as it is read back. */
export interface TrailedRefusal {
  /** The status's text. */
  readonly message: string;
  readonly trailer: (name: string) => string | undefined;
  /** Where no trailer names a code. */
  readonly fallback: ErrorCode;
  readonly cause?: unknown;
}

/** The error that a refusal's trailers carry. */
export function trailedError({ message, trailer, fallback, cause }: TrailedRefusal): TesseraError {
  const code = trailer(ERROR_TRAILERS.code) ?? '';
  const retryAfter = trailer(ERROR_TRAILERS.retryAfterMs);
  return new TesseraError(isErrorCode(code) ? code : fallback, message, {
    field: trailer(ERROR_TRAILERS.field),
    retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter),
    cause,
  });
}
