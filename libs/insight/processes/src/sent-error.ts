import { type ErrorCode, TesseraError } from '@tessera/errors';

/** An error on its way between two processes. */
export interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field: string;
}

export function sentError(thrown: unknown): SentError {
  const { code, message, field = '' } = TesseraError.from(thrown);
  return { code, message, field };
}

export function receivedError({ code, message, field }: SentError): TesseraError {
  return new TesseraError(code, message, field === '' ? {} : { field });
}
