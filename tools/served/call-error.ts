import type { ServiceError } from '@grpc/grpc-js';
import { ERROR_TRAILERS, isErrorCode, TesseraError } from '@tessera/errors';

/** A refusal in the words of the service, with the field it names. */
export function callError(error: ServiceError | TesseraError): TesseraError {
  if (error instanceof TesseraError) return error;
  const trailer = (name: string) => error.metadata?.get(name)[0]?.toString();
  const code = trailer(ERROR_TRAILERS.code) ?? '';
  return new TesseraError(isErrorCode(code) ? code : 'ENGINE_UNAVAILABLE', error.details, {
    field: trailer(ERROR_TRAILERS.field),
    cause: error,
  });
}
