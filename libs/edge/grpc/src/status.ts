import { Metadata, type StatusObject } from '@grpc/grpc-js';
import { errorBody, TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';
import { errorTrailers } from './error-trailers.js';
import { STATUS_DETAILS, statusDetails } from './status-details.js';

/** An error as the status of the one table, with its details as trailers. */
export function grpcStatus(error: TesseraError): StatusObject {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(errorTrailers(error))) metadata.set(name, value);
  metadata.set(STATUS_DETAILS, statusDetails(error));
  const details = errorBody(error).error.message.toWellFormed();
  return { code: error.row.grpc, details, metadata };
}

/** Status of anything thrown, as grpcStatus; a fault of the service is logged. */
export function loggedStatus(thrown: unknown, log: Pick<Log, 'error'>): StatusObject {
  const error = TesseraError.from(thrown);
  if (error.code === 'INTERNAL') log.error({ err: thrown }, 'a gRPC handler failed');
  return grpcStatus(error);
}
