/**
 * The one table of errors: code -> gRPC status -> HTTP status -> retryable. The first group mirrors
 * native/src/base/status.h in its order; docs/operate/errors.md lists the same rows (test/contract
 * compares all three).
 */

/** gRPC status numbers in use (grpc.io, "Status codes and their use in gRPC"). */
export const GRPC_STATUS = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** Trailers that carry what a gRPC status has no place for. */
export const ERROR_TRAILERS = {
  code: 'tessera-code',
  field: 'tessera-field',
  retryAfterMs: 'tessera-retry-after-ms',
  /** Wait under the name that gRPC's own retries read (grpc.io, proposal A6). */
  pushbackMs: 'grpc-retry-pushback-ms',
} as const;

export interface ErrorRow {
  readonly grpc: number;
  readonly http: number;
  /** True where the same request may succeed later, unchanged. */
  readonly retryable: boolean;
  readonly meaning: string;
}

/** Codes that the native engine reports; order and names as in status.h, OK left out. */
export const NATIVE_ERRORS = {
  REQUEST_INVALID: {
    grpc: GRPC_STATUS.INVALID_ARGUMENT,
    http: 400,
    retryable: false,
    meaning: 'a field of the request is missing, malformed or out of its bounds',
  },
  ITEM_NOT_FOUND: {
    grpc: GRPC_STATUS.NOT_FOUND,
    http: 404,
    retryable: false,
    meaning: 'an item of the history is not in the catalogue',
  },
  MODEL_NOT_FOUND: {
    grpc: GRPC_STATUS.NOT_FOUND,
    http: 404,
    retryable: false,
    meaning: 'the model folder or one of its files does not exist',
  },
  MODEL_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the model is readable, but cannot be served',
  },
  MODEL_CORRUPT: {
    grpc: GRPC_STATUS.DATA_LOSS,
    http: 500,
    retryable: false,
    meaning: 'a weights file is damaged',
  },
  MODEL_NOT_FINITE: {
    grpc: GRPC_STATUS.INTERNAL,
    http: 500,
    retryable: false,
    meaning: 'the model computed infinite or undefined numbers for the request',
  },
  CATALOGUE_NOT_FOUND: {
    grpc: GRPC_STATUS.NOT_FOUND,
    http: 404,
    retryable: false,
    meaning: 'the catalogue file does not exist',
  },
  CATALOGUE_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a source of the catalogue breaks a rule of its format',
  },
  CATALOGUE_CORRUPT: {
    grpc: GRPC_STATUS.DATA_LOSS,
    http: 500,
    retryable: false,
    meaning: 'a catalogue snapshot fails its checksum or structure check',
  },
  ADAPTER_NOT_FOUND: {
    grpc: GRPC_STATUS.NOT_FOUND,
    http: 404,
    retryable: false,
    meaning: 'the adapter, its folder or one of its files does not exist',
  },
  ADAPTER_INVALID: {
    grpc: GRPC_STATUS.INVALID_ARGUMENT,
    http: 422,
    retryable: false,
    meaning: 'the adapter is readable, but this model cannot serve it',
  },
  ADAPTER_CORRUPT: {
    grpc: GRPC_STATUS.DATA_LOSS,
    http: 422,
    retryable: false,
    meaning: 'a file of the adapter is damaged or cut off',
  },
  ADAPTER_ARENA_FULL: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 507,
    retryable: true,
    meaning:
      'the memory for adapters (adapters.bytesMax) has no room for another version of this ' +
      'size',
  },
  KV_POOL_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a capacity or block size of the KV pool is out of bounds',
  },
  KV_STORE_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the folder of the KV disk tier is in use, not writable or of another layout',
  },
  KV_STORE_CORRUPT: {
    grpc: GRPC_STATUS.DATA_LOSS,
    http: 500,
    retryable: false,
    meaning: 'the index or a block of the KV disk tier is damaged',
  },
  STORE_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the folder of the behaviour store is in use, not writable or not a folder',
  },
  STORE_CORRUPT: {
    grpc: GRPC_STATUS.DATA_LOSS,
    http: 500,
    retryable: false,
    meaning: 'a file of the behaviour store is damaged',
  },
  STORE_NEWER: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a newer release wrote the store: start that one, or restore a backup of this one',
  },
  STORE_FULL: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 507,
    retryable: true,
    meaning: 'a store has no space left: its disk, or the memory of Redis',
  },
  STORE_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning: 'a store does not answer, or its disk fails',
  },
  ENGINE_OVERLOADED: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 429,
    retryable: true,
    meaning:
      'the queue of the engine is full, the queue ahead makes the deadline unreachable, or ' +
      'memory is insufficient',
  },
  ENGINE_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning: 'the engine is draining or not yet ready',
  },
  ENGINE_CLOSED: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: false,
    meaning: 'the engine was closed',
  },
  DEADLINE_EXCEEDED: {
    grpc: GRPC_STATUS.DEADLINE_EXCEEDED,
    http: 504,
    retryable: true,
    meaning:
      'the deadline passed before the answer was ready, or is too near even for an idle ' +
      'engine',
  },
  CANCELLED: {
    grpc: GRPC_STATUS.CANCELLED,
    http: 499,
    retryable: false,
    meaning: 'the caller cancelled, or the user was erased while the request ran',
  },
  IO_FAILED: {
    grpc: GRPC_STATUS.INTERNAL,
    http: 500,
    retryable: false,
    meaning: 'the operating system refused a read or a write',
  },
  INTERNAL: {
    grpc: GRPC_STATUS.INTERNAL,
    http: 500,
    retryable: false,
    meaning: 'an internal error of the service',
  },
} as const satisfies Record<string, ErrorRow>;

/** Codes that only the service around the engine reports. */
export const SERVICE_ERRORS = {
  USER_NOT_FOUND: {
    grpc: GRPC_STATUS.NOT_FOUND,
    http: 404,
    retryable: false,
    meaning: 'the user has no known behaviour',
  },
  PROMPT_TEMPLATE_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'prompt.json breaks a rule of its format',
  },
  TOKENIZER_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a tokenizer file is missing, malformed or lacks a token',
  },
  BEHAVIOUR_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a file of users or sequences breaks a rule of its format',
  },
  OPERATION_BUSY: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 429,
    retryable: true,
    meaning:
      'too many operations of this kind are already running: queries of analysts, integrity ' +
      'checks',
  },
  QUERY_TOO_LARGE: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 422,
    retryable: false,
    meaning: 'a query of an analyst exceeds its memory or disk limit',
  },
  BROKER_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning: 'the Kafka broker does not answer, or its queue of records is full',
  },
  NODE_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning:
      'no node of the cluster that can answer takes requests, or one of those that must is ' +
      'missing',
  },
  LOG_TRIMMED: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the cluster log no longer has entries that a node needs',
  },
  LOG_DIFFERENT: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'a node has followed another cluster log, or one that has lost entries since',
  },
  LOG_INCOMPLETE: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the store of the cluster log no longer has the body of an entry that a node needs',
  },
  STATE_DIFFERENT: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 422,
    retryable: false,
    meaning: 'the state of a node differs from that of the others after the same entries',
  },
  CONFIG_INVALID: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 500,
    retryable: false,
    meaning: 'a configuration key is unknown or its value is out of bounds',
  },
  ADAPTER_STATE: {
    grpc: GRPC_STATUS.FAILED_PRECONDITION,
    http: 409,
    retryable: false,
    meaning: 'the state of the adapter version does not allow this action',
  },
  PUSH_CONFLICT: {
    grpc: GRPC_STATUS.ABORTED,
    http: 409,
    retryable: true,
    meaning: 'another push of the same adapter name is under way, or another holder has its lease',
  },
  ADAPTER_SOURCE_DENIED: {
    grpc: GRPC_STATUS.PERMISSION_DENIED,
    http: 403,
    retryable: false,
    meaning: 'the store of an announced adapter refused the read',
  },
  ADAPTER_SOURCE_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning: 'the store of an announced adapter does not answer, is too slow or breaks off',
  },
  UNAUTHENTICATED: {
    grpc: GRPC_STATUS.UNAUTHENTICATED,
    http: 401,
    retryable: false,
    meaning: 'the token is missing, unknown or expired, or the login is missing',
  },
  PERMISSION_DENIED: {
    grpc: GRPC_STATUS.PERMISSION_DENIED,
    http: 403,
    retryable: false,
    meaning: 'the token or the role does not allow this',
  },
  TOO_MANY_ATTEMPTS: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 429,
    retryable: true,
    meaning: 'too many failed logins from this address',
  },
  ISSUER_UNAVAILABLE: {
    grpc: GRPC_STATUS.UNAVAILABLE,
    http: 503,
    retryable: true,
    meaning: 'the OpenID provider does not answer',
  },
  BODY_TOO_LARGE: {
    grpc: GRPC_STATUS.RESOURCE_EXHAUSTED,
    http: 413,
    retryable: false,
    meaning: 'the message is larger than the limit of the edge',
  },
  MEDIA_TYPE_UNSUPPORTED: {
    grpc: GRPC_STATUS.INVALID_ARGUMENT,
    http: 415,
    retryable: false,
    meaning: 'the body is not application/json',
  },
  ROUTE_NOT_FOUND: {
    grpc: GRPC_STATUS.UNIMPLEMENTED,
    http: 404,
    retryable: false,
    meaning: 'no such method or path is served',
  },
} as const satisfies Record<string, ErrorRow>;

export const ERROR_TABLE = { ...NATIVE_ERRORS, ...SERVICE_ERRORS } as const;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Statuses of requests that never reach a route: HTTP has words for them, the table a code. */
export const UNREAD_REQUESTS = {
  slow: { http: 408, code: 'DEADLINE_EXCEEDED' },
  expectation: { http: 417, code: 'REQUEST_INVALID' },
  headers: { http: 431, code: 'REQUEST_INVALID' },
} as const satisfies Record<string, { readonly http: number; readonly code: ErrorCode }>;

/** Codes of answers that the service is at fault for: they count against its objectives. */
export const FAULTS: readonly ErrorCode[] = (Object.keys(ERROR_TABLE) as ErrorCode[]).filter(
  (code) => ERROR_TABLE[code].http >= 500 || ERROR_TABLE[code].http === 429,
);

export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, value);
}
