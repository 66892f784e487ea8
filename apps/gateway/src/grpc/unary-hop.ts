import { Metadata } from '@grpc/grpc-js';
import type { CallContext } from '@tessera/grpc';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** What the gateway needs of a unary call: grpc-js's own calls have it. */
export interface UnaryHop {
  readonly request: Buffer;
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  /** Milliseconds since 1970; Infinity: there is none. */
  getDeadline(): Date | number;
  once(event: 'cancelled', listener: () => void): unknown;
}

/** A call that was answered without grpc-js (libs/grpc, direct). */
export function directHop(request: Buffer, context: CallContext): UnaryHop {
  const { signal, budgetUs, caller, authorization } = context;
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  for (const [name, value] of Object.entries(caller)) metadata.set(name, String(value));
  const deadlineMs = Date.now() + budgetUs / MICROSECONDS_PER_MILLISECOND;
  return {
    request,
    metadata,
    get cancelled() {
      return signal.aborted;
    },
    getDeadline: () => deadlineMs,
    once: (_event, listener) => signal.addEventListener('abort', listener, { once: true }),
  };
}
