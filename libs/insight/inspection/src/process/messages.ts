import type { ErrorCode } from '@tessera/errors';
import { TesseraError } from '@tessera/errors';
import type { ChildLimits } from './child-limits.js';

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

/** Of the service to the process that records; each is answered once. */
export interface RecorderCall {
  readonly number: number;
  readonly method: string;
  readonly values: readonly unknown[];
}

export type RecorderReply =
  | { readonly number: number; readonly answer: unknown }
  | { readonly number: number; readonly error: SentError };

/** Of the service to the process that starts others, which it numbers. */
export type LaunchOrder =
  | {
      readonly kind: 'start';
      readonly number: number;
      /** As arguments of Node. */
      readonly program: readonly string[];
      readonly limits: ChildLimits;
    }
  | { readonly kind: 'send'; readonly number: number; readonly message: unknown }
  | { readonly kind: 'kill'; readonly number: number };

export type LaunchReply =
  | { readonly kind: 'message'; readonly number: number; readonly message: unknown }
  /** Nothing follows; with a reason where it could not be started. */
  | { readonly kind: 'ended'; readonly number: number; readonly reason: string };

/** Of the service to a process that answers one query: first `ask`, then `data`, its place. */
export type QueryOrder =
  | {
      readonly kind: 'ask';
      readonly sql: string;
      readonly form: QueryForm;
      readonly rowsMax: number;
      readonly answerBytesMax: number;
      readonly memoryBytes: number;
      readonly diskBytes: number;
    }
  | { readonly kind: 'data'; readonly path: string };

/** `json` comes back as text, the others as files. */
export type QueryForm = 'json' | 'csv' | 'parquet';

export type QueryReply =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'answered'; readonly json: Uint8Array }
  | { readonly kind: 'exported'; readonly path: string }
  | { readonly kind: 'refused'; readonly error: SentError };
