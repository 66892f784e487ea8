import type { Clock } from '@tessera/turns';

interface Wait {
  readonly atMs: number;
  /** Waits of one moment end in the order in which they began. */
  readonly number: number;
  readonly end: () => void;
}

/** Rounds of the event loop after which all that is not waiting for time has been done. */
const ROUNDS = 3;

/**
 * Time that passes when nothing else is left to be done: hours of a cluster are milliseconds, and
 * the same draws come to the same end. Owner: one test.
 */
export class SimulatedClock implements Clock {
  private now = 1000;
  private number = 0;
  private waits: Wait[] = [];

  nowMs(): number {
    return this.now;
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      this.number += 1;
      const end = () => {
        this.waits = this.waits.filter((one) => one !== wait);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const wait = { atMs: this.now + Math.max(0, ms), number: this.number, end };
      this.waits.push(wait);
      signal?.addEventListener('abort', end);
    });
  }

  /** The clock of a process that can be held up. */
  ofNode(): NodeClock {
    return new NodeClock(this);
  }

  /** Lets milliseconds pass. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      await settled();
      const next = this.next();
      if (next === undefined || next.atMs > end) break;
      this.now = Math.max(this.now, next.atMs);
      next.end();
    }
    this.now = end;
  }

  /** Time passes until it has settled. Rejects where nothing is left to wait for. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    for (;;) {
      await settled();
      if (isOver) return work;
      const next = this.next();
      if (next === undefined) throw new Error('expected work that ends, got one that never does');
      this.now = Math.max(this.now, next.atMs);
      next.end();
    }
  }

  private next(): Wait | undefined {
    return this.waits.reduce<Wait | undefined>(
      (first, one) =>
        first === undefined ||
        one.atMs < first.atMs ||
        (one.atMs === first.atMs && one.number < first.number)
          ? one
          : first,
      undefined,
    );
  }
}

/** Time of one process: while it hangs none of its waits end. */
export class NodeClock implements Clock {
  private isHung = false;
  private held: (() => void)[] = [];

  constructor(private readonly clock: SimulatedClock) {}

  nowMs(): number {
    return this.clock.nowMs();
  }

  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    await this.clock.pause(ms, signal);
    await this.gate();
  }

  hang(): void {
    this.isHung = true;
  }

  goOn(): void {
    this.isHung = false;
    for (const go of this.held.splice(0)) go();
  }

  /** Resolves when the process runs. */
  async gate(): Promise<void> {
    while (this.isHung) await new Promise<void>((resolve) => this.held.push(resolve));
  }
}

async function settled(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
