/**
 * Bytes a second, given out in the order in which they are asked for. After a pause a second's
 * worth is there at once; a value that is larger still goes, and those behind it wait longer.
 */
export class ByteBudget {
  /** When all that was asked for is paid. */
  private paidMs = Number.NEGATIVE_INFINITY;
  private readonly waiting = new Set<{
    readonly timer: NodeJS.Timeout;
    readonly end: () => void;
  }>();
  private isClosed = false;

  /** @param bytesPerSecond Infinity: nothing waits */
  constructor(private readonly bytesPerSecond: number) {}

  /** False: the budget was closed meanwhile. */
  async take(bytes: number): Promise<boolean> {
    const nowMs = performance.now();
    const burstMs = 1000;
    this.paidMs = Math.max(this.paidMs, nowMs - burstMs) + (bytes / this.bytesPerSecond) * 1000;
    const waitMs = this.paidMs - nowMs;
    if (waitMs > 0 && !this.isClosed) await this.pause(waitMs);
    return !this.isClosed;
  }

  /** Ends the waits of all. */
  close(): void {
    this.isClosed = true;
    for (const { timer, end } of this.waiting) {
      clearTimeout(timer);
      end();
    }
    this.waiting.clear();
  }

  private pause(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wait = { timer: setTimeout(() => end(), waitMs), end: resolve };
      const end = () => {
        this.waiting.delete(wait);
        resolve();
      };
      this.waiting.add(wait);
    });
  }
}
