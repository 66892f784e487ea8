import type { EdgeAdmission, HeldCallers } from '@tessera/admission';
import { ARRIVALS, Call, type CallLimits } from '@tessera/call';
import { TesseraError } from '@tessera/errors';
import { methodAt, type Queue } from '@tessera/methods';
import { carrierOf } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';
import { HeldSocket } from './held-socket.js';
import { callerOf } from './http-access.js';

export interface HttpCallParts {
  readonly limits: CallLimits;
  /** Admission by queue; a queue without one admits every call. */
  readonly admissions: Partial<Readonly<Record<Queue, EdgeAdmission>>>;
  /** Callers that are told to keep their calls. */
  readonly held: HeldCallers;
}

/** Makes the calls of HTTP requests and ends them. DI token. */
export class HttpCalls {
  constructor(private readonly parts: HttpCallParts) {}

  /** Runs `act` with the call of a request, which ends with it. */
  async serve<Answer>(
    reply: FastifyReply,
    act: (call: Call) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const admission = this.admissionOf(reply);
    const call = this.callOf(reply, admission);
    try {
      return await call.during(() => act(call));
    } catch (thrown) {
      if (TesseraError.from(thrown).code === 'ENGINE_OVERLOADED') this.refused(reply);
      throw thrown;
    }
  }

  /** Notes that a request is refused for those before it: its caller may be held. */
  refused(reply: FastifyReply): void {
    const { raw } = reply;
    const admission = this.admissionOf(reply);
    if (admission === undefined) return;
    const { held } = this.parts;
    const caller = HeldSocket.of(raw, (free) => held.forget(free));
    held.refused(caller, () => admission.hasRoom);
    raw.once('finish', () => caller.answered());
  }

  private admissionOf({ request }: FastifyReply): EdgeAdmission | undefined {
    const queue = methodAt(request.routeOptions.url ?? '')?.queue;
    return queue && this.parts.admissions[queue];
  }

  private callOf(reply: FastifyReply, admission: EdgeAdmission | undefined): Call {
    const { request, raw } = reply;
    const { limits } = this.parts;
    const field = (name: string) => request.headers[name]?.toString();
    const controller = new AbortController();
    raw.once('close', () => {
      if (!raw.writableFinished) controller.abort();
    });
    return new Call({
      edge: 'http',
      caller: callerOf(request),
      signal: controller.signal,
      // The body alone names a time.
      transportMs: Number.POSITIVE_INFINITY,
      limits,
      waitedMs: ARRIVALS.waitedMs,
      trace: carrierOf(field),
      field,
      admission,
    });
  }
}
