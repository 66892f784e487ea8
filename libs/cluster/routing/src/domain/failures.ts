import { ERROR_TRAILERS, isConnectionLost, isErrorCode } from '@tessera/errors';

/** Meaning of a node's failure for asking another node. */
export type Failure = 'away' | 'busy' | 'final';

/** Codes of nodes that have refused before they began, so that another one may be asked. */
const BUSY: ReadonlySet<string> = new Set([
  'ENGINE_OVERLOADED',
  'ENGINE_UNAVAILABLE',
  'ENGINE_CLOSED',
]);

/** Codes of nodes that could not append a change to the log; another one may, under one key. */
const CANNOT_APPEND: ReadonlySet<string> = new Set([
  ...['STORE_UNAVAILABLE', 'STORE_FULL', 'LOG_DIFFERENT', 'LOG_TRIMMED', 'NODE_UNAVAILABLE'],
  ...['DEADLINE_EXCEEDED', 'BROKER_UNAVAILABLE'],
]);

/** Failure for a code that a node answered; '' for none. `isChange`: the call appended a change. */
export function failureOfCode(code: string, isChange = false): Failure {
  if (!isErrorCode(code)) return 'away';
  return BUSY.has(code) || (isChange && CANNOT_APPEND.has(code)) ? 'busy' : 'final';
}

/** End of a call over gRPC, as clients of gRPC have it. */
export interface EndedCall {
  /** Status of gRPC. */
  readonly code: number;
  readonly details?: string;
  readonly metadata?: { get(name: string): readonly unknown[] };
}

/** Failure of a call without a node's code, by whether the connection was made and held. */
export function failureOfCall(
  { code, details = '', metadata }: EndedCall,
  isChange = false,
): Failure {
  const named = metadata?.get(ERROR_TRAILERS.code)[0]?.toString() ?? '';
  if (named !== '') return failureOfCode(named, isChange);
  return isConnectionLost(code, details) ? 'away' : 'final';
}
