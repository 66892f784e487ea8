import { type ServiceError, status } from '@grpc/grpc-js';
import type { RecallFailure } from './generated/tessera/recall/v1/recall.js';
import { isRetryable } from './status-details.js';

/** Statuses of gRPC itself, where the service said nothing. */
const OF_TRANSPORT: ReadonlyMap<number, string> = new Map([
  [status.UNAVAILABLE, 'ENGINE_UNAVAILABLE'],
  [status.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [status.CANCELLED, 'CANCELLED'],
  [status.UNIMPLEMENTED, 'ROUTE_NOT_FOUND'],
]);

/** A day: longer than any deadline, and within the range of timers. */
const HINT_MS_MAX = 86_400_000;

interface ErrorFacts {
  /** Path of the field at fault; '' for none. */
  readonly field?: string;
  /** Milliseconds after which a repeat may succeed; undefined: no hint. */
  readonly retryAfterMs?: number | undefined;
  /** True where the same call may succeed later. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** A call that failed, by a code of docs/operate/errors.md. */
export class TesseraError extends Error {
  override readonly name = 'TesseraError';
  readonly field: string;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;

  constructor(
    readonly code: string,
    readonly details: string,
    { field = '', retryAfterMs, retryable = false, cause }: ErrorFacts = {},
  ) {
    super(`${code}: ${details}`, { cause });
    this.field = field;
    this.retryAfterMs = retryAfterMs;
    this.retryable = retryable;
  }
}

/**
 * Read from the trailers of a failed call, or from its status where there are none that can be
 * read. A fault without a status (a channel that was closed) is INTERNAL.
 */
export function errorOf(failed: Partial<ServiceError>): TesseraError {
  const { code: ended = -1, details = failed.message ?? String(failed), metadata } = failed;
  const trailer = (name: string) => metadata?.get(name)[0]?.toString();
  const code = trailer('tessera-code') || OF_TRANSPORT.get(ended) || 'INTERNAL';
  return new TesseraError(code, details, {
    field: trailer('tessera-field') ?? '',
    retryAfterMs: hintOf(trailer('tessera-retry-after-ms')),
    retryable: retryableOf(failed),
    cause: failed,
  });
}

/** Undefined where the text is no positive number of milliseconds. */
function hintOf(text = ''): number | undefined {
  const ms = /^\d+$/.test(text) ? Math.min(Number(text), HINT_MS_MAX) : 0;
  return ms > 0 ? ms : undefined;
}

function retryableOf({ code, metadata }: Partial<ServiceError>): boolean {
  const [details] = metadata?.get('grpc-status-details-bin') ?? [];
  const isSaid = Buffer.isBuffer(details) ? isRetryable(details) : undefined;
  return isSaid ?? code === status.UNAVAILABLE;
}

/** Of one recall of a batch. */
export function failureOf({ code, message, field, ...facts }: RecallFailure): TesseraError {
  const inCamelCase = field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return new TesseraError(code, message, { ...facts, field: inCamelCase });
}
