import type { Principal } from '@tessera/access';
import {
  type AdmissionPlace,
  type EdgeAdmission,
  endOf,
  type PriorityClass,
} from '@tessera/admission';
import { type Cancellation, TesseraError } from '@tessera/errors';
import type { Carrier, Edge } from '@tessera/telemetry';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { LOOP_LAG } from './loop-lag.js';

export interface CallLimits {
  /** Milliseconds of a call for which neither transport nor body names a time. */
  readonly defaultDeadlineMs: number;
  readonly deadlineMsMax: number;
}

export interface CallParts {
  readonly edge: Edge;
  readonly caller: Principal;
  /** Aborted when the caller cancels or its connection closes. */
  readonly signal: Cancellation;
  /** Milliseconds that the transport's own deadline leaves; Infinity: it has none. */
  readonly transportMs: number;
  readonly limits: CallLimits;
  /** Milliseconds that its bytes waited for the thread; left out: its times leave them out. */
  readonly waitedMs?: number;
  /** The caller's trace. */
  readonly trace: Carrier;
  /** First value of a metadata or header field; undefined: the caller sent none. */
  readonly field: (name: string) => string | undefined;
  /** Judges the call; left out: it is served whatever the load. */
  readonly admission?: EdgeAdmission | undefined;
}

/**
 * One call: the caller, the time it has, whether it is still wanted, its trace and its place in
 * admission. Made by the edge that received it, which also ends it; times are of performance.now().
 */
export class Call {
  readonly edge: Edge;
  readonly caller: Principal;
  readonly signal: Cancellation;
  readonly trace: Carrier;
  readonly field: CallParts['field'];
  private readonly arrivedMs: number;
  private deadlineMs: number;
  private place: AdmissionPlace | undefined;
  private hasEnded = false;

  constructor(private readonly parts: CallParts) {
    const { edge, caller, signal, trace, field, transportMs, limits } = parts;
    this.edge = edge;
    this.caller = caller;
    this.signal = signal;
    this.trace = trace;
    this.field = field;
    this.arrivedMs = performance.now() - (parts.waitedMs ?? 0);
    const silentMs = transportMs === Number.POSITIVE_INFINITY;
    const leftMs = silentMs ? limits.defaultDeadlineMs : transportMs;
    this.deadlineMs = this.arrivedMs + Math.min(leftMs, limits.deadlineMsMax);
  }

  /**
   * Microseconds in which the answer has to be there so that it is written before the deadline: the
   * event loop's lag is left out. Always finite, negative once the time has passed.
   */
  get leftUs(): number {
    const leftMs = LOOP_LAG.within(this.deadlineMs - performance.now());
    return Math.floor(leftMs * MICROSECONDS_PER_MILLISECOND);
  }

  /** True once it was answered or refused. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /**
   * Call for one of several requests in this call: in its time, with its own place in admission.
   */
  part(): Call {
    return new Call({ ...this.parts, transportMs: this.deadlineMs - performance.now() });
  }

  /**
   * Takes the time that the body of the request names; undefined: it names none. The shorter of
   * transport and body counts.
   * @throws TesseraError REQUEST_INVALID
   */
  limit(deadlineMs: number | undefined): void {
    if (deadlineMs === undefined) return;
    const { transportMs, limits } = this.parts;
    if (deadlineMs > limits.deadlineMsMax || deadlineMs < 1) {
      const expected = `expected 1..${limits.deadlineMsMax}, got ${deadlineMs}`;
      throw new TesseraError('REQUEST_INVALID', `deadlineMs: ${expected}`, { field: 'deadlineMs' });
    }
    this.deadlineMs = this.arrivedMs + Math.min(transportMs, deadlineMs);
  }

  /**
   * Takes a place in admission, once; `end` gives it back.
   * @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again
   */
  admit(cls: PriorityClass): void {
    if (this.place !== undefined || this.hasEnded) return;
    const leftMs = this.leftUs / MICROSECONDS_PER_MILLISECOND;
    this.place = this.parts.admission?.admit(cls, leftMs);
  }

  /** Runs `act`, with which the call ends: answered, or refused as it rejects. */
  async during<Answer>(act: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      const answer = await act();
      this.end();
      return answer;
    } catch (thrown) {
      this.end(TesseraError.from(thrown));
      throw thrown;
    }
  }

  /**
   * Gives back what the call holds; `error`: its refusal, left out where it was answered.
   * Idempotent.
   */
  end(error?: TesseraError): void {
    this.hasEnded = true;
    this.place?.giveBack(this.signal.aborted ? 'gone' : endOf(error?.code));
    this.place = undefined;
  }
}
