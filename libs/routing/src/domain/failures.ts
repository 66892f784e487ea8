import { isErrorCode } from '@tessera/errors';

/** What a node's failure says about asking another node. */
export type Failure = 'away' | 'busy' | 'final';

/** Codes of nodes that have refused before they began, so that another one may be asked. */
const BUSY: ReadonlySet<string> = new Set([
  'ENGINE_OVERLOADED',
  'ENGINE_UNAVAILABLE',
  'ENGINE_CLOSED',
]);

/** Of a code that a node's answer bears; '' for none. */
export function failureOfCode(code: string): Failure {
  if (!isErrorCode(code)) return 'away';
  return BUSY.has(code) ? 'busy' : 'final';
}
