import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { Catch, type RpcExceptionFilter } from '@nestjs/common';
import { errorBody, refusalPauseMs, TesseraError } from '@tessera/errors';
import { Log } from '@tessera/telemetry';
import { mergeMap, type Observable, throwError, timer } from 'rxjs';
import { errorTrailers } from './error-trailers.js';
import { STATUS_DETAILS, statusDetails } from './status-details.js';

export function grpcStatus(error: TesseraError): StatusObject {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(errorTrailers(error))) metadata.set(name, value);
  metadata.set(STATUS_DETAILS, statusDetails(error));
  const details = errorBody(error).error.message.toWellFormed();
  return { code: error.row.grpc, details, metadata };
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
    const refused = throwError(() => status);
    const pauseMs = refusalPauseMs(TesseraError.from(thrown));
    return pauseMs === 0 ? refused : timer(pauseMs).pipe(mergeMap(() => refused));
  }
}
