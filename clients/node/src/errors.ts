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

/** Of the trailers of a failed call, or of its status where there are none. */
export function errorOf(failed: ServiceError): TesseraError {
  const trailer = (name: string) => failed.metadata?.get(name)[0]?.toString();
  const code = trailer('tessera-code');
  const after = trailer('tessera-retry-after-ms');
  return new TesseraError(code ?? OF_TRANSPORT.get(failed.code) ?? 'INTERNAL', failed.details, {
    field: trailer('tessera-field') ?? '',
    retryAfterMs: after === undefined ? undefined : Number(after),
    retryable: retryableOf(failed),
    cause: failed,
  });
}

function retryableOf({ code, metadata }: ServiceError): boolean {
  const [details] = metadata?.get('grpc-status-details-bin') ?? [];
  return Buffer.isBuffer(details) ? isRetryable(details) : code === status.UNAVAILABLE;
}

/** Of one recall of a batch. */
export function failureOf({ code, message, ...facts }: RecallFailure): TesseraError {
  return new TesseraError(code, message, facts);
}
