import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import { AnswerRate } from './answer-rate.js';
import { CLASS_COUNT, classShares, type PriorityClass } from './class-shares.js';
import { Margin } from './margin.js';

/** Rates are measured in windows of this length. */
const WINDOW_MS = 100;
/** Calls in flight, all the time, that make a window one with a backlog: it shows the capacity. */
const BACKLOG_MIN = 8;
/** A caller that gives up after this part of its time would have got a late answer. */
const GIVEN_UP_SHARE = 0.9;
/**
 * Classes may begin hardly more than is answered. Were it much more, calls would wait until the
 * next is refused for want of time, and that holds back most the class that is to be admitted most.
 */
const SLACK = 1.02;
/**
 * Classes take turns where so much of a call's time would go by with waiting. Below that everybody
 * is let in, or a rate that was measured too low would stay low.
 */
const QUEUED_SHARE = 0.25;
/** Calls in flight, as a part of those that there is time for, below which there is room. */
const ROOM_SHARE = 0.3;
/** Part of the calls that take less than the floor, and by how much of it one call moves it. */
const FLOOR_QUANTILE = 0.2;
const FLOOR_STEP = 0.05;
/** Weight of one call in the mean of the times that calls bring. */
const BUDGET_WEIGHT = 0.02;
/** The part of what is asked for that the other classes ask at least where one takes turns. */
const ASKING_MIN = 1e-3;

/**
 * End of an admitted call: `answered`; `busy`: refused further in, for those before it, so that
 * such calls had better be refused here; `refused`: for want of time, which says nothing of the
 * rate of answers; `gone`: the caller went.
 */
export type PlaceEnd = 'answered' | 'busy' | 'refused' | 'gone';

/** The place of a call that was admitted. It travels with the call; its owner gives it back. */
export interface AdmissionPlace {
  /** Idempotent. */
  giveBack(end: PlaceEnd): void;
}

interface Admitted {
  readonly admittedMs: number;
  readonly budgetMs: number;
  /** Margin that judged it. */
  readonly margin: Margin;
}

export interface Refused {
  /** Milliseconds after which the call would have been admitted. */
  readonly retryAfterMs: number;
}

/**
 * Predicts if a call that arrives can be answered in time, by what the whole process does: calls in
 * flight over the rate of answers (Little's law), which the event loop, the stores or the engine
 * may limit. The engine judges by itself what it is given, more exactly; this keeps from the event
 * loop what would die there. The rate is learned while there is a backlog; before the first one
 * everything is admitted. A margin corrects the prediction (as scheduler::Punctuality does in the
 * engine). Pure but for its clock.
 */
export class AnswerLimit {
  /** Calls that were admitted and have not ended. */
  private count = 0;
  private readonly offered = new Array<number>(CLASS_COUNT).fill(0);
  private offeredRates: readonly number[] = new Array<number>(CLASS_COUNT).fill(0);
  private readonly answerRate = new AnswerRate();
  /** While more is asked for than can be answered: parts of the rate by class. Else undefined. */
  private shares: readonly number[] | undefined;
  /** Calls that each class may still begin, by its part of the rate. */
  private readonly credits = new Array<number>(CLASS_COUNT).fill(0);
  private creditedMs: number;
  private windowStartMs: number;
  private answered = 0;
  private withdrawn = 0;
  /** Mean time that calls bring, milliseconds; 0 before the first. */
  private budgetMs = 0;
  /** Milliseconds that few calls take less than: the answer of one for which nothing waits. */
  private floorMs = 0;
  private leastInFlight = 0;
  private hadBacklog = false;
  /**
   * While more is asked for than can be answered those who come later make those before them take
   * longer; what is learned of it holds for the next time.
   */
  private readonly margins = { calm: new Margin(), busy: new Margin() };

  constructor(private readonly nowMs: () => number = () => performance.now()) {
    this.windowStartMs = nowMs();
    this.creditedMs = this.windowStartMs;
  }

  /** Calls that have a place. */
  get inFlight(): number {
    return this.count;
  }

  /** A place for a call whose request is there as a whole. Infinity: it has no deadline. */
  admit(cls: PriorityClass, budgetMs: number): AdmissionPlace | Refused {
    const now = this.roll();
    this.offered[cls] = (this.offered[cls] ?? 0) + 1;
    const refused = this.judge(cls, budgetMs, now);
    if (refused !== undefined) return refused;
    this.charge(cls);
    this.noteBudget(budgetMs);
    this.count += 1;
    const admitted = { admittedMs: now, budgetMs, margin: this.margin };
    let hasEnded = false;
    return {
      giveBack: (end) => {
        if (!hasEnded) this.end(admitted, end);
        hasEnded = true;
      },
    };
  }

  /** Calls in flight that there is time for: Little's law with the deadlines that calls bring. */
  get callsMax(): number {
    return (this.capacity * this.budgetMs) / MILLISECONDS_PER_SECOND / this.margin.value;
  }

  /** True while further calls would soon find nothing before them. */
  get hasRoom(): boolean {
    return this.count < ROOM_SHARE * this.callsMax;
  }

  /** Milliseconds that a further call needs, the margin included; 0: it would run alone. */
  get neededMs(): number {
    if (this.count === 0) return 0;
    const queuedMs = ((this.count + 1) * MILLISECONDS_PER_SECOND) / this.capacity;
    return Math.max(queuedMs, this.floorMs) * this.margin.value;
  }

  /** The refusal of a call whose request is still to come, if it came now. Takes no place. */
  refuses(cls: PriorityClass, budgetMs: number): Refused | undefined {
    const refused = this.judge(cls, budgetMs, this.roll());
    if (refused !== undefined) this.offered[cls] = (this.offered[cls] ?? 0) + 1;
    return refused;
  }

  private judge(cls: PriorityClass, budgetMs: number, now: number): Refused | undefined {
    // A call that runs alone is the engine's to judge.
    if (this.count === 0) return undefined;
    const { neededMs } = this;
    if (neededMs > budgetMs) return { retryAfterMs: neededMs - budgetMs };
    const turnMs = this.untilTurnMs(cls, now);
    const isTurnWanted = turnMs > 0 && neededMs > budgetMs * QUEUED_SHARE;
    return isTurnWanted ? { retryAfterMs: turnMs } : undefined;
  }

  private end({ admittedMs, budgetMs, margin }: Admitted, end: PlaceEnd): void {
    const now = this.roll();
    this.count -= 1;
    this.leastInFlight = Math.min(this.leastInFlight, this.count);
    const tookMs = now - admittedMs;
    if (end === 'answered') {
      this.answered += 1;
      this.noteFloor(tookMs);
    }
    const isLate = tookMs > budgetMs * (end === 'gone' ? GIVEN_UP_SHARE : 1);
    if (end === 'gone' && !isLate) this.withdrawn += 1;
    if (isLate || end === 'busy') margin.raise(admittedMs, now);
  }

  /** A call without a deadline says nothing of the deadlines of others. */
  private noteBudget(budgetMs: number): void {
    if (budgetMs === Number.POSITIVE_INFINITY) return;
    const weight = this.budgetMs === 0 ? 1 : BUDGET_WEIGHT;
    this.budgetMs += weight * (budgetMs - this.budgetMs);
  }

  /** Follows the quantile FLOOR_QUANTILE by stochastic approximation (Robbins and Monro, 1951). */
  private noteFloor(tookMs: number): void {
    const weight = tookMs > this.floorMs ? FLOOR_QUANTILE : FLOOR_QUANTILE - 1;
    this.floorMs = this.floorMs === 0 ? tookMs : this.floorMs * (1 + FLOOR_STEP * weight);
  }

  /** Milliseconds that a call waits which arrives now; 0 where nothing is known of it. */
  get waitMs(): number {
    return ((this.count * MILLISECONDS_PER_SECOND) / this.capacity) * this.margin.value;
  }

  /** Answers a second that the process is good for; Infinity before it was seen. */
  get capacity(): number {
    return this.answerRate.perSecond;
  }

  /** When the class has a credit again; 0: it has one, or no other class asks. */
  private untilTurnMs(cls: PriorityClass, now: number): number {
    if (this.shares === undefined || !this.othersAsk(cls)) return 0;
    const ms = now - this.creditedMs;
    this.creditedMs = now;
    for (const [one, credit] of this.credits.entries()) {
      const perMs = this.creditsPerMs(one);
      this.credits[one] = Math.min(credit + ms * perMs, 1 + WINDOW_MS * perMs);
    }
    const credit = this.credits[cls] ?? 0;
    return credit < 1 ? (1 - credit) / this.creditsPerMs(cls) : 0;
  }

  private othersAsk(cls: PriorityClass): boolean {
    const all = this.offeredRates.reduce((sum, rate) => sum + rate, 0);
    return all - (this.offeredRates[cls] ?? 0) > ASKING_MIN * all;
  }

  /** A class that is let in without a turn, since little waits, has it less for a while. */
  private charge(cls: PriorityClass): void {
    if (this.shares === undefined) return;
    const least = -WINDOW_MS * this.creditsPerMs(cls);
    this.credits[cls] = Math.max(least, (this.credits[cls] ?? 0) - 1);
  }

  private creditsPerMs(cls: number): number {
    return ((this.shares?.[cls] ?? 1) * this.capacity * SLACK) / MILLISECONDS_PER_SECOND;
  }

  private get margin(): Margin {
    return this.shares === undefined ? this.margins.calm : this.margins.busy;
  }

  /** Closes the window where it is over. The time. */
  private roll(): number {
    const now = this.nowMs();
    const seconds = (now - this.windowStartMs) / MILLISECONDS_PER_SECOND;
    if (seconds * MILLISECONDS_PER_SECOND < WINDOW_MS) return now;
    const { answered, withdrawn } = this;
    const window = { ms: seconds * MILLISECONDS_PER_SECOND, answered, withdrawn };
    const hasBacklog = this.leastInFlight >= BACKLOG_MIN;
    // The end of a backlog belongs to it, unless the process was idle afterwards: a batch that ends
    // it is what the calls waited for.
    const isItsEnd = this.hadBacklog && window.ms < 2 * WINDOW_MS;
    this.answerRate.note(window, hasBacklog, isItsEnd);
    this.hadBacklog = hasBacklog;
    if (answered > 0) this.margin.lower(now, answered);
    this.offeredRates = this.offered.map(
      (count, cls) => ((this.offeredRates[cls] ?? 0) + count / seconds) / 2,
    );
    this.shares = this.sharesNow();
    this.offered.fill(0);
    this.answered = 0;
    this.withdrawn = 0;
    this.leastInFlight = this.count;
    this.windowStartMs = now;
    return now;
  }

  private sharesNow(): readonly number[] | undefined {
    const asked = this.offeredRates.reduce((sum, rate) => sum + rate, 0);
    if (asked <= this.capacity) return undefined;
    return classShares(this.offeredRates, this.capacity);
  }
}
