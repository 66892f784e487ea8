import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const WINDOW_MS = 200;
/** Percentile of the delays of a window: margins are for rare pauses. */
const PERCENTILE = 95;
const NANOSECONDS_PER_MILLISECOND = 1e6;
/** Share of the lag before that a quiet window keeps. */
const KEPT = 0.7;
/** Part of a call's time that the way back may take away from what computes the answer. */
const WAY_BACK_SHARE = 0.5;

/**
 * How late the event loop comes round: an answer waits for it before it is written, which the
 * engine does not see, whose threads may hold all cores.
 */
class LoopLag {
  private histogram: IntervalHistogram | undefined;
  private lagMs = 0;

  /** Milliseconds of late; starts to measure when it is asked first. */
  get ms(): number {
    if (this.histogram === undefined) this.start();
    return this.lagMs;
  }

  /** Milliseconds in which the answer has to be there, so that it is written in time. */
  within(leftMs: number): number {
    return leftMs - Math.min(this.ms, Math.max(0, leftMs) * WAY_BACK_SHARE);
  }

  private start(): void {
    const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    histogram.enable();
    this.histogram = histogram;
    setInterval(() => {
      const delayMs =
        histogram.percentile(PERCENTILE) / NANOSECONDS_PER_MILLISECOND - RESOLUTION_MS;
      this.lagMs = Math.max(delayMs, this.lagMs * KEPT, 0);
      histogram.reset();
    }, WINDOW_MS).unref();
  }
}

/** Lag of this process's event loop. */
export const LOOP_LAG = new LoopLag();
