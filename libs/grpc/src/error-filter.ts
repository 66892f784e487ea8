import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { ERROR_TRAILERS, errorBody, TesseraError } from '@tessera/errors';
import { Log } from '@tessera/telemetry';
import { type Observable, throwError } from 'rxjs';

/** Metadata takes printable ASCII only; anything else is percent-encoded. */
function printable(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

export function grpcStatus(error: TesseraError): StatusObject {
  const { code, message, field, retryAfterMs } = errorBody(error).error;
  const metadata = new Metadata();
  metadata.set(ERROR_TRAILERS.code, code);
  if (field !== undefined) metadata.set(ERROR_TRAILERS.field, printable(field));
  if (retryAfterMs !== undefined) {
    metadata.set(ERROR_TRAILERS.retryAfterMs, String(retryAfterMs));
    metadata.set(ERROR_TRAILERS.pushbackMs, String(retryAfterMs));
  }
  return { code: error.row.grpc, details: message.toWellFormed(), metadata };
}

export function loggedStatus(thrown: unknown, log: Pick<Log, 'error'>): StatusObject {
  const error = TesseraError.from(thrown);
  if (error.code === 'INTERNAL') log.error({ err: thrown }, 'a gRPC handler failed');
  return grpcStatus(error);
}

/** Every throw of a handler as the status of the one table. */
@Catch()
export class GrpcErrorFilter implements RpcExceptionFilter<unknown> {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown): Observable<never> {
    const status = loggedStatus(thrown, this.log);
    return throwError(() => status);
  }
}
