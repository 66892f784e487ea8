import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { Caller, EdgeAdmission, HeldCallers, Refusal } from '@tessera/admission';
import { ARRIVALS, LOOP_LAG } from '@tessera/call';
import { ERROR_TRAILERS, TesseraError } from '@tessera/errors';
import { methodOf, type Queue } from '@tessera/methods';
import { timeoutMsOf, timeoutText } from './grpc-timeout.js';
import { STATUS_DETAILS, statusDetails } from './status-details.js';

export interface GateRules {
  /** Milliseconds of a call whose client names no deadline, and of any call. */
  readonly defaultDeadlineMs: number;
  readonly deadlineMsMax: number;
  /** Admission by queue; a queue without one admits every call. */
  readonly admissions: Partial<Readonly<Record<Queue, EdgeAdmission>>>;
  /** Callers that are told to keep their calls. */
  readonly held: HeldCallers;
  /** Counts a call that is refused here; no count of requests has it. Left out: nothing counts. */
  readonly onRefused?: (() => void) | undefined;
  /** Trailer of every answer and its value; left out: there is none. */
  readonly trailer?: readonly [name: string, value: () => string];
}

/** Calls of one connection at once; its client holds further ones back (RFC 9113, 5.1.2). */
export const STREAMS_MAX = 1000;

const TIMEOUT = 'grpc-timeout';
const HEALTH_CHECK = '/grpc.health.v1.Health/Check';

/** Hints are two digits, so that their details are made once. */
const HINT_DIGITS = 2;

/** Details of refusals, base64, by hint. */
const detailsByHint = new Map<number, string>();

function roundedUp(ms: number): number {
  const unit = 10 ** Math.max(0, Math.ceil(Math.log10(ms + 1)) - HINT_DIGITS);
  return Math.ceil(ms / unit) * unit;
}

/** The details that clients read (status-details.ts), without the figures of the message. */
function detailsOf(retryAfterMs: number): string {
  const known = detailsByHint.get(retryAfterMs);
  if (known !== undefined) return known;
  const error = new TesseraError('ENGINE_OVERLOADED', 'queue too long', { retryAfterMs });
  const details = statusDetails(error).toString('base64');
  detailsByHint.set(retryAfterMs, details);
  return details;
}

/** A client's connection: held by a limit of no streams, which it obeys as any other limit. */
class Connection implements Caller {
  /** A gateway or balancer looks over it if the service lives: held, it would find it dead. */
  isWatched = false;

  constructor(private readonly session: ServerHttp2Session) {}

  hold(): void {
    this.limit(0);
  }

  release(): void {
    this.limit(STREAMS_MAX);
  }

  private limit(maxConcurrentStreams: number): void {
    const { session } = this;
    if (!session.closed && !session.destroyed) session.settings({ maxConcurrentStreams });
  }
}

/**
 * Judges each call by its head, before grpc-js makes anything of it: a call whose queue is too long
 * for its deadline costs the thread an HTTP/2 stream and no more. Where refusals take too much of
 * the thread it holds callers. Time that the bytes of a call waited for the thread is taken from
 * its deadline.
 */
export class CallGate {
  private readonly connections = new WeakMap<object, Connection>();

  constructor(private readonly rules: GateRules) {}

  add(session: ServerHttp2Session): void {
    const connection = new Connection(session);
    this.connections.set(session, connection);
    session.once('close', () => this.rules.held.forget(connection));
  }

  /** True: the call is refused, and its stream has been answered. */
  refuses(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const timeoutMs = this.noteWaiting(headers);
    const connection = stream.session && this.connections.get(stream.session);
    if (connection && headers[':path'] === HEALTH_CHECK) connection.isWatched = true;
    const { admissions, defaultDeadlineMs, deadlineMsMax, held } = this.rules;
    const queue = methodOf(headers[':path'] ?? '')?.queue;
    const admission = queue && admissions[queue];
    if (admission === undefined) return false;
    // The body may name a shorter time; admission by the whole message sees it.
    const silentMs = Math.max(defaultDeadlineMs, deadlineMsMax);
    const refusal = admission.refusalOf(LOOP_LAG.within(Math.min(timeoutMs, silentMs)));
    if (refusal === undefined) return false;
    if (connection?.isWatched === false) held.refused(connection, () => admission.hasRoom);
    this.rules.onRefused?.();
    this.answer(stream, refusal);
    return true;
  }

  /** Milliseconds that the call has left; grpc-js reads them of the headers too. */
  private noteWaiting(headers: IncomingHttpHeaders): number {
    const timeout = headers[TIMEOUT];
    if (typeof timeout !== 'string') return Number.POSITIVE_INFINITY;
    const ms = timeoutMsOf(timeout);
    if (ms === undefined) return Number.POSITIVE_INFINITY;
    const leftMs = ms - ARRIVALS.waitedMs;
    headers[TIMEOUT] = timeoutText(Math.max(1, leftMs));
    return leftMs;
  }

  private answer(stream: ServerHttp2Stream, { message, retryAfterMs }: Refusal): void {
    const hintMs = roundedUp(retryAfterMs);
    const hint = String(hintMs);
    const { trailer } = this.rules;
    const headers = {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': String(status.RESOURCE_EXHAUSTED),
      'grpc-message': message,
      [ERROR_TRAILERS.code]: 'ENGINE_OVERLOADED',
      [ERROR_TRAILERS.retryAfterMs]: hint,
      [ERROR_TRAILERS.pushbackMs]: hint,
      [STATUS_DETAILS]: detailsOf(hintMs),
      ...(trailer && { [trailer[0]]: trailer[1]() }),
    };
    stream.on('error', () => undefined);
    stream.respond(headers, { endStream: true, sendDate: false } as never);
    stream.resume();
  }
}
