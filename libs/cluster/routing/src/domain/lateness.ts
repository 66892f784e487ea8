/** How much of a new observation the estimates take over (RFC 6298, section 2). */
const MEAN_SHARE = 1 / 8;
const SPREAD_SHARE = 1 / 4;
/** So many times the spread is late (RFC 6298, section 2.3). */
const SPREADS = 4;
/** What a loaded machine takes for nothing at all. */
const LEAST_US = 20_000;
/** One part that hung says little of the others. */
const RATIO_MAX = 10;

/**
 * How long parts take for each microsecond predicted, and how far one of them is from another: the
 * estimator by which TCP decides that a segment is lost.
 */
export class Lateness {
  private mean = 1;
  private spread = 0.5;

  observe(predictedUs: number, actualUs: number): void {
    const ratio = Math.min(RATIO_MAX, actualUs / Math.max(1, predictedUs));
    this.spread += SPREAD_SHARE * (Math.abs(ratio - this.mean) - this.spread);
    this.mean += MEAN_SHARE * (ratio - this.mean);
  }

  /** A part that is not answered by then is late. */
  lateAfterUs(predictedUs: number): number {
    return LEAST_US + predictedUs * (this.mean + SPREADS * this.spread);
  }
}
