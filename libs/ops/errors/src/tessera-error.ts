import { ERROR_TABLE, type ErrorCode, type ErrorRow } from './codes.js';

/**
 * Bytes of UTF-8 that callers get of a message and of a field's path. Both may quote the request;
 * over gRPC they are headers, and clients drop answers whose headers are too long (8 KiB at some).
 */
const MESSAGE_BYTES_MAX = 2048;
const FIELD_BYTES_MAX = 256;
const CUT = '...';
const UTF8 = new TextEncoder();
const CUT_TEXT = new Uint8Array(MESSAGE_BYTES_MAX);

/** The text, or as much of its begin as so many bytes hold. */
function cutTo(bytesMax: number, text: string): string {
  if (text.length * 3 <= bytesMax) return text;
  const { read } = UTF8.encodeInto(text, CUT_TEXT.subarray(0, bytesMax));
  if (read === text.length) return text;
  const kept = UTF8.encodeInto(text, CUT_TEXT.subarray(0, bytesMax - CUT.length)).read;
  return `${text.slice(0, kept)}${CUT}`;
}

export interface TesseraErrorOptions {
  /** Path of the field that is at fault, as the caller spells it, e.g. `history[3]`. */
  readonly field?: string | undefined;
  readonly cause?: unknown;
  /** When a retry may succeed, milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
}

/** The one error that crosses a lib's face. The message says what was expected and what it got. */
export class TesseraError extends Error {
  readonly code: ErrorCode;
  readonly field?: string;
  readonly retryAfterMs?: number;

  constructor(code: ErrorCode, message: string, options: TesseraErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TesseraError';
    this.code = code;
    if (options.field !== undefined) this.field = options.field;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }

  get row(): ErrorRow {
    return ERROR_TABLE[this.code];
  }

  get retryable(): boolean {
    return this.row.retryable;
  }

  /** Any thrown value as a TesseraError; what is not one becomes INTERNAL and keeps its cause. */
  static from(thrown: unknown): TesseraError {
    if (thrown instanceof TesseraError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new TesseraError('INTERNAL', message, { cause: thrown });
  }
}

/** The body that HTTP callers see. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly field?: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

/** The body for callers: an INTERNAL fault keeps its details for the log, long texts are cut. */
export function errorBody(error: TesseraError): ErrorBody {
  return {
    error: {
      code: error.code,
      message:
        error.code === 'INTERNAL' ? 'internal error' : cutTo(MESSAGE_BYTES_MAX, error.message),
      ...(error.field === undefined ? {} : { field: cutTo(FIELD_BYTES_MAX, error.field) }),
      retryable: error.retryable,
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    },
  };
}
