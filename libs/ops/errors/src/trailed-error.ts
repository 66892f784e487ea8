import { ERROR_TRAILERS, type ErrorCode, isErrorCode } from './codes.js';
import { TesseraError } from './tessera-error.js';

/** Refusal of a gRPC call by a service, as it is read back. */
export interface TrailedRefusal {
  /** The status's text. */
  readonly message: string;
  readonly trailer: (name: string) => string | undefined;
  /** Code where no trailer names one. */
  readonly fallback: ErrorCode;
  readonly cause?: unknown;
}

/** A day: longer than any deadline, and within the range of timers. */
const HINT_MS_MAX = 86_400_000;

/** Undefined where the text is no positive number of milliseconds. */
function hintOf(text = ''): number | undefined {
  const ms = /^\d+$/.test(text) ? Math.min(Number(text), HINT_MS_MAX) : 0;
  return ms > 0 ? ms : undefined;
}

/** The error that a refusal's trailers carry. */
export function trailedError({ message, trailer, fallback, cause }: TrailedRefusal): TesseraError {
  const code = trailer(ERROR_TRAILERS.code) ?? '';
  return new TesseraError(isErrorCode(code) ? code : fallback, message, {
    field: trailer(ERROR_TRAILERS.field),
    retryAfterMs: hintOf(trailer(ERROR_TRAILERS.retryAfterMs)),
    cause,
  });
}
