const MARGIN_MIN = 0.5;
const MARGIN_MAX = 3;
const RAISE = 1.25;
/** Each late call raises the margin, each one in time lowers it: this share is late in the end. */
const LATE_SHARE = 0.003;
const LOWERED_PER_ANSWER = LATE_SHARE * Math.log(RAISE);
/** Late calls come in bunches, of which one raises it. */
const LOWERED_PER_WINDOW_MAX = 0.004;
/**
 * A margin beyond that is not the noise of predictions but something that disturbed the process;
 * once nothing has been late for so long it is over.
 */
const DISTURBED = 2;
const CALM_MS = 1000;
const LOWERED_PER_CALM_WINDOW = 0.03;

/**
 * How much longer than predicted an answer may take, so that few of the calls that are admitted are
 * late: raised by late answers, lowered by windows of time with answers in time. Pure.
 */
export class Margin {
  private current = 1;
  private raisedMs = 0;

  get value(): number {
    return this.current;
  }

  /** A call ended late. Those admitted before the last raise were not judged by it. */
  raise(admittedMs: number, nowMs: number): void {
    if (admittedMs < this.raisedMs) return;
    this.current = Math.min(MARGIN_MAX, this.current * RAISE);
    this.raisedMs = nowMs;
  }

  /** A window of time with so many answers has ended. */
  lower(nowMs: number, answers: number): void {
    const isCalm = this.current > DISTURBED && nowMs - this.raisedMs > CALM_MS;
    const lowered = isCalm
      ? LOWERED_PER_CALM_WINDOW
      : Math.min(LOWERED_PER_WINDOW_MAX, answers * LOWERED_PER_ANSWER);
    this.current = Math.max(MARGIN_MIN, this.current * (1 - lowered));
  }
}
