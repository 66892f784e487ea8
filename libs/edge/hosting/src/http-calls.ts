import type { EdgeAdmission } from '@tessera/admission';
import { Call, type CallLimits } from '@tessera/call';
import { methodAt, type Queue } from '@tessera/methods';
import { carrierOf } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';
import { callerOf } from './http-access.js';

export interface HttpCallParts {
  readonly limits: CallLimits;
  /** Admission by queue; a queue without one admits every call. */
  readonly admissions: Partial<Readonly<Record<Queue, EdgeAdmission>>>;
}

/** Makes the calls of HTTP requests and ends them. DI token. */
export class HttpCalls {
  constructor(private readonly parts: HttpCallParts) {}

  /** Runs `act` with the call of a request, which ends with it. */
  serve<Answer>(
    reply: FastifyReply,
    act: (call: Call) => Answer | Promise<Answer>,
  ): Promise<Answer> {
    const call = this.callOf(reply);
    return call.during(() => act(call));
  }

  private callOf(reply: FastifyReply): Call {
    const { request, raw } = reply;
    const { limits, admissions } = this.parts;
    const field = (name: string) => request.headers[name]?.toString();
    const queue = methodAt(request.routeOptions.url ?? '')?.queue;
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
      trace: carrierOf(field),
      field,
      admission: queue && admissions[queue],
    });
  }
}
