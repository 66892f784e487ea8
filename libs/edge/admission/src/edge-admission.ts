import { TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

/** 0: high, 1: normal, 2: low. */
export type PriorityClass = 0 | 1 | 2;

const FIRST_CLASS: PriorityClass = 0;
/** Calls that come later share passes with those before them, and slow them by about so much. */
const SLOWED = 1.25;
const CLASS_NAMES = ['high', 'normal', 'low'] as const;

/** For a call of one class that came now. */
export interface ClassForecast {
  /** Microseconds until the work ahead of it is done. */
  readonly waitUs: number;
  /** Microseconds until the class has its next turn; 0: it has one now. */
  readonly turnUs: number;
}

/** The forecast of a queue, read for each call: cheap, and never blocking. */
export interface Forecast {
  of(cls: PriorityClass): ClassForecast;
  /** Microseconds of the queue's time that an average call takes; 0: not known. */
  readonly requestUs: number;
  /** 0..1: classes take turns where the wait exceeds this share of the time left. */
  readonly turnsShare: number;
  /** A call of the class was refused: demand that the queue itself does not see. */
  noteRefused(cls: PriorityClass): void;
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
 * The edge's part of admission; pure but for what it reads of the queue.
 *
 *   refused   <=>  wait(class) > time left                              the queue is too long
 *             or   (places taken + 1) * request * slowed > time left    they share its time
 *             or   turn(class) > 0 and wait(class) > share * time left  other classes are due
 *             or   places taken >= inFlightMax                          too many calls at once
 *
 * The queue forecasts (the engine's: native/src/scheduler/admission_controller.h, with the margin)
 * and judges each request that it is given once more, exactly. This controller has no state but the
 * number of places taken, and it learns nothing: it keeps calls that would be refused anyway from
 * being parsed. It is wrong where something that the queue does not see takes the time, such as a
 * store of behaviours that hangs: then calls end at their deadlines, and the bound on places holds
 * the memory.
 */
export class EdgeAdmission {
  private taken = 0;
  private readonly mix = new ClassMix();

  constructor(private readonly settings: AdmissionSettings) {}

  /** Calls that have a place. */
  get inFlight(): number {
    return this.taken;
  }

  /** For a call of the class that came now. */
  forecast(cls: PriorityClass): ClassForecast {
    return this.settings.forecast.of(cls);
  }

  /**
   * Judges a call whose message is still to come and whose class is not known yet: by the wait of
   * the first class, which is the shortest.
   * @throws TesseraError ENGINE_OVERLOADED
   */
  check(leftMs: number): void {
    // A call that runs alone is the engine's to judge.
    if (this.taken === 0) return;
    const waitMs = this.settings.forecast.of(FIRST_CLASS).waitUs / MICROSECONDS_PER_MILLISECOND;
    if (waitMs <= leftMs) return;
    this.settings.forecast.noteRefused(this.mix.next());
    throw this.tooLong(waitMs, leftMs);
  }

  /** @throws TesseraError ENGINE_OVERLOADED with a hint when to ask again */
  admit(cls: PriorityClass, leftMs: number): AdmissionPlace {
    this.mix.note(cls);
    try {
      this.judge(cls, leftMs);
    } catch (refusal) {
      this.settings.forecast.noteRefused(cls);
      throw refusal;
    }
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
    if (this.taken === 0) return;
    const { forecast, inFlightMax } = this.settings;
    const { waitUs, turnUs } = forecast.of(cls);
    const waitMs = Math.max(waitUs, this.sharedUs) / MICROSECONDS_PER_MILLISECOND;
    const turnMs = turnUs / MICROSECONDS_PER_MILLISECOND;
    if (waitMs > leftMs) throw this.tooLong(waitMs, leftMs);
    if (turnMs > 0 && waitMs > forecast.turnsShare * leftMs) {
      const message = `overloaded: priority ${CLASS_NAMES[cls]} used its share`;
      throw this.refusal(`${message}; retry after ${Math.ceil(turnMs)} ms`, turnMs);
    }
    if (this.taken >= inFlightMax) {
      const message = `too many calls: expected fewer than ${inFlightMax} at once`;
      throw this.refusal(message, waitMs / inFlightMax);
    }
  }

  /** Microseconds until a call has ended that shares the queue's time with all that have places. */
  private get sharedUs(): number {
    return (this.taken + 1) * this.settings.forecast.requestUs * SLOWED;
  }

  private tooLong(waitMs: number, leftMs: number): TesseraError {
    const expected = `expected wait ${Math.ceil(waitMs)} ms`;
    const message = `queue too long: ${expected}, deadline in ${Math.floor(leftMs)} ms`;
    return this.refusal(message, waitMs - leftMs);
  }

  private refusal(message: string, afterMs: number): TesseraError {
    this.settings.onRefused?.();
    const retryAfterMs = Math.max(1, Math.ceil(afterMs));
    return new TesseraError('ENGINE_OVERLOADED', message, { retryAfterMs });
  }
}

/** Share of a class in the mix that a call leaves to those before it. */
const KEPT = 0.99;

/**
 * Classes of recent calls. A call that is refused by its head counts as demand of the class that
 * the mix is due for: credits are shares of what is asked for.
 */
class ClassMix {
  private readonly shares = [1 / 3, 1 / 3, 1 / 3];
  private readonly due = [0, 0, 0];

  note(cls: PriorityClass): void {
    for (const [one, share] of this.shares.entries()) {
      this.shares[one] = share * KEPT + (one === cls ? 1 - KEPT : 0);
    }
  }

  next(): PriorityClass {
    for (const [one, share] of this.shares.entries()) this.due[one] = (this.due[one] ?? 0) + share;
    const cls = this.due.indexOf(Math.max(...this.due));
    this.due[cls] = (this.due[cls] ?? 0) - 1;
    return cls as PriorityClass;
  }
}
