import { type Submission, WAIT_FOR, type WaitFor } from '@tessera/contracts';
import { type Cancellation, expecting, TesseraError } from '@tessera/errors';
import type { Call } from './call.js';

const invalid = expecting('REQUEST_INVALID');

/** Names of metadata and headers: who repeats a change under one key changes nothing. */
const KEY = 'idempotency-key';
/** Header: the event that the answer to a change waits for. */
const WAITS = 'tessera-wait-for';

const isWaitFor = (text: string): text is WaitFor => (WAIT_FOR as readonly string[]).includes(text);

/** A call as far as a change needs it. */
export type ChangingCall = Pick<Call, 'field' | 'signal'>;

/**
 * How a caller wants a change taken, and for how long: who has gone, or whose time is over, wants
 * none.
 * @throws TesseraError REQUEST_INVALID
 */
export function submissionOf({ field, signal }: ChangingCall): Submission {
  const key = field(KEY);
  const waitFor = field(WAITS);
  if (waitFor !== undefined && !isWaitFor(waitFor)) {
    throw invalid(WAITS, `one of ${WAIT_FOR.join(', ')}`, waitFor);
  }
  return { key, waitFor, signal: asSignal(signal) };
}

/** Signal for a cancellation, for work that takes a signal. */
export function asSignal(cancellation: Cancellation): AbortSignal {
  if (cancellation instanceof AbortSignal) return cancellation;
  const gone = new AbortController();
  const end = () => gone.abort(new TesseraError('CANCELLED', 'the caller has gone'));
  if (cancellation.aborted) end();
  else cancellation.addEventListener('abort', end, { once: true });
  return gone.signal;
}
