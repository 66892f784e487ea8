import { TesseraError } from '@tessera/errors';
import { type AdmissionPlace, AnswerLimit, type PlaceEnd, type Refused } from './answer-limit.js';
import { ClassMix } from './class-mix.js';
import type { PriorityClass } from './class-shares.js';

/** For a call of one class that came now, by the queue's own forecast. */
export interface ClassForecast {
  /** Microseconds until the work ahead of it is done. */
  readonly waitUs: number;
  /** Microseconds until the class has its next turn; 0: it has one now. */
  readonly turnUs: number;
}

/** How the place of a call ends that ended with an error of this code; left out: with an answer. */
export const endOf = (code?: string): PlaceEnd =>
  code === 'ENGINE_OVERLOADED' ? 'busy' : code === 'DEADLINE_EXCEEDED' ? 'refused' : 'answered';

/** The refusal of a call with ENGINE_OVERLOADED. */
export interface Refusal {
  readonly message: string;
  /** Milliseconds after which the call might have been admitted. */
  readonly retryAfterMs: number;
}

export interface AdmissionSettings {
  /** The forecast of the queue, for callers who ask for it; left out: nothing is predicted. */
  readonly forecast?: (cls: PriorityClass) => ClassForecast;
  /** Calls that may have a place at once: what the queue and its batch hold. */
  readonly inFlightMax: number;
  readonly nowMs?: () => number;
}

/**
 * Admission of the calls of one queue, before anything is computed for them.
 *
 *   refused   <=>  (places taken + 1) / answers a second * margin > time left
 *             or   classes take turns, and the class has used its share
 *             or   places taken >= inFlightMax
 *
 * The rate of answers is measured while there is a backlog (AnswerLimit); the engine judges each
 * request that it is given once more, by its work. Both are needed: the engine's wait takes running
 * requests for a queue though they share passes, and alone it answered 81 % in time at three times
 * the capacity, with this limit 98 %.
 */
export class EdgeAdmission {
  private readonly limit: AnswerLimit;
  private readonly mix = new ClassMix();

  constructor(private readonly settings: AdmissionSettings) {
    this.limit = new AnswerLimit(settings.nowMs);
  }

  /** Calls that have a place. */
  get inFlight(): number {
    return this.limit.inFlight;
  }

  /** Milliseconds that a call which came now would wait; 0 where nothing is known of it. */
  get waitMs(): number {
    return this.limit.waitMs;
  }

  forecast(cls: PriorityClass): ClassForecast {
    return this.settings.forecast?.(cls) ?? NO_WAIT;
  }

  /** True while so little waits that callers who were told to hold back may go on. */
  get hasRoom(): boolean {
    return this.limit.hasRoom;
  }

  /**
   * Judges a call whose message is still to come and whose class is not known yet, by time alone.
   * Undefined: it may go on.
   */
  refusalOf(leftMs: number): Refusal | undefined {
    const { neededMs } = this.limit;
    if (neededMs <= leftMs) return undefined;
    // It is demand all the same, of the class that recent calls make most likely.
    this.limit.refuses(this.mix.next(), leftMs);
    return tooLong(neededMs, leftMs);
  }

  /** @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again */
  admit(cls: PriorityClass, leftMs: number): AdmissionPlace {
    this.mix.note(cls);
    const { inFlightMax } = this.settings;
    if (this.inFlight >= inFlightMax) {
      const message = `too many calls: expected fewer than ${inFlightMax} at once`;
      throw overloaded(refusal(message, this.waitMs / inFlightMax));
    }
    const { neededMs } = this.limit;
    const place = this.limit.admit(cls, leftMs);
    if (isRefused(place)) {
      if (neededMs > leftMs) throw overloaded(tooLong(neededMs, leftMs));
      const afterMs = Math.ceil(place.retryAfterMs);
      const message = `overloaded: priority ${CLASS_NAMES[cls]} used its share`;
      throw overloaded(refusal(`${message}; retry after ${afterMs} ms`, afterMs));
    }
    return place;
  }
}

function tooLong(waitMs: number, leftMs: number): Refusal {
  const expected = `expected wait ${Math.ceil(waitMs)} ms`;
  const message = `queue too long: ${expected}, deadline in ${Math.floor(leftMs)} ms`;
  return refusal(message, waitMs - leftMs);
}

const refusal = (message: string, afterMs: number): Refusal => ({
  message,
  retryAfterMs: Math.max(1, Math.ceil(afterMs)),
});

const overloaded = ({ message, retryAfterMs }: Refusal) =>
  new TesseraError('ENGINE_OVERLOADED', message, { retryAfterMs });

const NO_WAIT: ClassForecast = { waitUs: 0, turnUs: 0 };

const CLASS_NAMES = ['high', 'normal', 'low'] as const;

const isRefused = (judged: object): judged is Refused => 'retryAfterMs' in judged;
