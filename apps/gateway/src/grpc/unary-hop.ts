import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { Carrier } from '@tessera/telemetry';
import { type Fields, passedFields } from '../passed-fields.js';
import { leftMsOf } from './forwarded-methods.js';
import { HOP_MS, hopDeadlineMs } from './hop-metadata.js';

/** A unary call as the gateway needs it, from gRPC or a topic. */
export interface UnaryHop {
  readonly request: Buffer;
  readonly fields: Fields;
  readonly cancelled: boolean;
  /**
   * Until the node has to answer, by the transport and by the message, milliseconds since 1970;
   * Infinity: there is none.
   */
  readonly deadlineMs: number;
  onCancelled(act: () => void): void;
}

function carried(caller: Carrier): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(caller)) fields[name] = String(value);
  return fields;
}

export function grpcHop(path: string, call: ServerUnaryCall<Buffer, Buffer>): UnaryHop {
  const ownMs = Date.now() + leftMsOf(path, call.request);
  return {
    request: call.request,
    fields: passedFields((name) => call.metadata.get(name)[0]),
    get cancelled() {
      return call.cancelled;
    },
    deadlineMs: Math.min(hopDeadlineMs(call), ownMs),
    onCancelled: (act) => void call.once('cancelled', act),
  };
}

/** A call of nobody who could go away, such as a record's. `deadlineMs`: since 1970. */
export function recordHop(request: Buffer, deadlineMs: number, caller: Carrier): UnaryHop {
  return {
    request,
    fields: carried(caller),
    cancelled: false,
    deadlineMs: deadlineMs - HOP_MS,
    onCancelled: () => undefined,
  };
}
