import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** 0: high, 1: normal, 2: low. */
export type PriorityClass = 0 | 1 | 2;

const FIRST_CLASS: PriorityClass = 0;

/** The engine's forecast, read for each call: cheap, and never blocking. */
export interface Forecast {
  /** Microseconds that a request of the class that came now would wait before it is begun. */
  waitUs(cls: PriorityClass): number;
}

/** The place of an admitted call. Its owner gives it back when the call ends. Idempotent. */
export interface AdmissionPlace {
  giveBack(): void;
}

export interface AdmissionSettings {
  readonly forecast: Forecast;
  /** Calls that may have a place at once: what the engine's queue and batch hold. */
  readonly inFlightMax: number;
  /** Told of each refusal; left out: nobody is. */
  readonly onRefused?: () => void;
}

/**
 * The edge's part of admission; pure but for what it reads of the engine.
 *
 *   refused   <=>  wait(class) > time left      the queue is too long
 *             or   places taken >= inFlightMax  too many calls at once
 *
 * The engine forecasts the wait (native/src/scheduler/admission.h) and judges each request that it
 * is given once more, exactly. This controller has no state but the number of places taken, and it
 * learns nothing: it keeps calls that would be refused anyway from being parsed. It is wrong where
 * something that the engine does not see takes the time, such as a store of behaviours that hangs:
 * then calls end at their deadlines and the bound on places holds the memory.
 */
export class EdgeAdmission {
  private taken = 0;

  constructor(private readonly settings: AdmissionSettings) {}

  /** Calls that have a place. */
  get inFlight(): number {
    return this.taken;
  }

  /** Microseconds that a call of normal priority would wait now. */
  get waitUs(): number {
    return this.settings.forecast.waitUs(1);
  }

  /**
   * Judges a call whose message is still to come and whose class nobody knows yet: by the wait of
   * the first class, which is the shortest.
   * @throws TesseraError ENGINE_OVERLOADED
   */
  check(leftMs: number): void {
    this.judge(FIRST_CLASS, leftMs);
  }

  /** @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again */
  admit(cls: PriorityClass, leftMs: number): AdmissionPlace {
    this.judge(cls, leftMs);
    this.taken += 1;
    let isTaken = true;
    return {
      giveBack: () => {
        if (isTaken) this.taken -= 1;
        isTaken = false;
      },
    };
  }

  private judge(cls: PriorityClass, leftMs: number): void {
    const { forecast, inFlightMax } = this.settings;
    // A call that runs alone is the engine's to judge.
    if (this.taken === 0) return;
    const waitMs = forecast.waitUs(cls) / MICROSECONDS_PER_MILLISECOND;
    if (waitMs > leftMs) {
      const expected = `expected wait ${Math.ceil(waitMs)} ms`;
      const message = `queue too long: ${expected}, deadline in ${Math.floor(leftMs)} ms`;
      throw this.refusal(message, waitMs - leftMs);
    }
    if (this.taken >= inFlightMax) {
      const message = `too many calls: expected fewer than ${inFlightMax} at once`;
      throw this.refusal(message, waitMs / inFlightMax);
    }
  }

  private refusal(message: string, afterMs: number): TesseraError {
    this.settings.onRefused?.();
    const retryAfterMs = Math.max(1, Math.ceil(afterMs));
    return new TesseraError('ENGINE_OVERLOADED', message, { retryAfterMs });
  }
}
