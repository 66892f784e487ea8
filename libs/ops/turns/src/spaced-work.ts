/** Divisor of the time: the share that the work may take. */
const SHARE = 20;
/** Milliseconds that at least lie between two runs: what becomes due meanwhile is done together. */
const GATHER_MS = 1000;
/** Milliseconds until a run that failed is tried again. */
const RETRY_MS = 10_000;

export interface SpacedWorkParts {
  /** Does all that is due when it is called. */
  readonly work: () => Promise<void>;
  readonly onFault: (thrown: unknown) => void;
  /** Calls back in so many milliseconds, without keeping the process; returns the way to end it. */
  readonly after?: (ms: number, act: () => void) => () => void;
}

function afterMs(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Work that takes long and may wait: it runs soon after it has become due, and then no sooner than
 * twenty times as long as it took. So what is due is done within twenty runs' time and a second.
 */
export class SpacedWork {
  private isDue = false;
  private isClosed = false;
  private running: Promise<void> | undefined;
  private endWait: (() => void) | undefined;
  private pauseMs = GATHER_MS;

  constructor(private readonly parts: SpacedWorkParts) {}

  /** Something is to be done. */
  due(): void {
    this.isDue = true;
    this.wait();
  }

  /** All that is due has been done; rejects where it cannot be, and it stays due. */
  async done(): Promise<void> {
    await this.running?.catch(() => undefined);
    if (this.isDue) await this.run();
  }

  /** Nothing is begun from now on, but by done(). */
  async close(): Promise<void> {
    this.isClosed = true;
    this.endWait?.();
    this.endWait = undefined;
    await this.running?.catch(() => undefined);
  }

  private wait(): void {
    const isBusy = this.running !== undefined || this.endWait !== undefined;
    if (!this.isDue || this.isClosed || isBusy) return;
    const { after = afterMs, onFault } = this.parts;
    this.endWait = after(this.pauseMs, () => {
      this.endWait = undefined;
      this.run().catch(onFault);
    });
  }

  private run(): Promise<void> {
    this.running ??= this.runNow().finally(() => {
      this.running = undefined;
      this.wait();
    });
    return this.running;
  }

  private async runNow(): Promise<void> {
    this.isDue = false;
    const beganMs = performance.now();
    try {
      await this.parts.work();
      this.pauseMs = Math.max(GATHER_MS, (performance.now() - beganMs) * (SHARE - 1));
    } catch (thrown) {
      this.isDue = true;
      this.pauseMs = RETRY_MS;
      throw thrown;
    }
  }
}
