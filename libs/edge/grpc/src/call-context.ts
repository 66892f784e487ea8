import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { AdmissionSlot } from '@tessera/admission';
import type { Cancellation } from '@tessera/errors';
import { type Carrier, carrierOf } from '@tessera/telemetry';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** Cancellation and remaining time of a call, for its handler. */
export interface CallContext {
  /** Aborted when the client cancels or its deadline passes. */
  readonly signal: Cancellation;
  /** Microseconds until the call's deadline; Infinity where it has none. */
  readonly budgetUs: number;
  /** The caller's trace, of its metadata. */
  readonly caller: Carrier;
  /** The call's place in admission, which its owner gives back; left out: it has none yet. */
  readonly slot?: AdmissionSlot | undefined;
  /** As the caller sent it, for whoever passes the call on; left out: none, or nobody asks. */
  readonly authorization?: string | undefined;
}

/** Nest does not cancel a unary handler by itself, so the call's own event is listened to. */
export function callContext(call: ServerUnaryCall<unknown, unknown>): CallContext {
  const controller = new AbortController();
  if (call.cancelled) controller.abort();
  else call.once('cancelled', () => controller.abort());
  const leftMs = Number(call.getDeadline()) - Date.now();
  const caller = carrierOf((name) => call.metadata.get(name)[0]?.toString());
  return { signal: controller.signal, budgetUs: leftMs * MICROSECONDS_PER_MILLISECOND, caller };
}
