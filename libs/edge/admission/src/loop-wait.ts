/** Of the past, at each iteration. */
const FORGET = 0.9;

/**
 * How long what is read from sockets now may have waited for the event loop, and how long the loop
 * takes to come round: queueing that no deadline would see otherwise. Bytes that an iteration reads
 * arrived after the one before it had looked, unless the loop slept in between: then they woke it.
 */
export class LoopWait {
  private iterationStartMs = 0;
  private isInIteration = false;
  private idleMs = 0;
  private waited = 0;
  private round = 0;

  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly readIdleMs: () => number = () => performance.nodeTiming.idleTime,
    private readonly atEndOfIteration: (act: () => void) => void = setImmediate,
  ) {}

  /** To be called whenever a request's bytes are read; cheap. */
  touch(): void {
    if (this.isInIteration) return;
    this.isInIteration = true;
    const now = this.nowMs();
    const idleMs = this.readIdleMs();
    const hasSlept = idleMs > this.idleMs;
    this.waited = hasSlept || this.iterationStartMs === 0 ? 0 : now - this.iterationStartMs;
    this.idleMs = idleMs;
    this.iterationStartMs = now;
    this.atEndOfIteration(() => {
      this.isInIteration = false;
      const taken = this.nowMs() - now;
      this.round = Math.max(taken, this.round * FORGET + taken * (1 - FORGET));
    });
  }

  /** Milliseconds that bytes read in this iteration waited before it at most. */
  get waitedMs(): number {
    return this.waited;
  }

  /** Milliseconds of an iteration, of late: how long an answer may wait for its turn. */
  get roundMs(): number {
    return this.round;
  }
}
