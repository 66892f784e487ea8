import type { SplitCounts } from '@tessera/telemetry';

/**
 * Parts that are asked of a second node, as a share of those that were answered: where all nodes
 * are late, second asks would only make them later. So are hedged requests bounded in J. Dean,
 * L. A. Barroso, "The Tail at Scale" (2013).
 */
const LATE_SHARE = 0.05;
/** As many more may be, so that a gateway that has just begun has some. */
const LATE_SPARE = 8;

/** Counts of calls that were split, since the gateway began. */
export class SplitTally implements SplitCounts {
  readonly parts = { answered: 0, failed: 0, late: 0 };
  predictedUs = 0;
  actualUs = 0;
  splitCalls = 0;
  spreadUs = 0;
  sharedTokens = 0;

  /** Whether a late part may be asked of a second node, which is then counted. */
  takeSecondAsk(): boolean {
    const { answered, late } = this.parts;
    if (late >= LATE_SPARE + LATE_SHARE * answered) return false;
    this.parts.late += 1;
    return true;
  }

  notePart(predictedUs: number, actualUs: number): void {
    this.parts.answered += 1;
    this.predictedUs += predictedUs;
    this.actualUs += actualUs;
  }

  /** `endedMs`: when each part of a call was answered. */
  noteCall(endedMs: readonly number[], sharedTokens: number): void {
    this.sharedTokens += sharedTokens;
    if (endedMs.length < 2) return;
    this.splitCalls += 1;
    this.spreadUs += (Math.max(...endedMs) - Math.min(...endedMs)) * 1000;
  }
}
