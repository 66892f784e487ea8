import type { Clock } from '@tessera/turns';

interface Wait {
  readonly atMs: number;
  /** Waits of one moment end in the order in which they began. */
  readonly number: number;
  isOver: boolean;
  readonly end: () => void;
}

const isBefore = (one: Wait, other: Wait) =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.number < other.number);

/** Waits, the next one first: a binary heap, from which those that are over go when they come. */
class Waits {
  private readonly heap: Wait[] = [];

  add(wait: Wait): void {
    const { heap } = this;
    let at = heap.push(wait) - 1;
    for (let up = (at - 1) >> 1; at > 0 && isBefore(wait, heap[up] as Wait); up = (at - 1) >> 1) {
      heap[at] = heap[up] as Wait;
      at = up;
    }
    heap[at] = wait;
  }

  /** Undefined: nobody waits. */
  next(): Wait | undefined {
    while (this.heap[0]?.isOver === true) this.removeFirst();
    return this.heap[0];
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop() as Wait;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Wait, heap[down] as Wait)) down += 1;
      if (!isBefore(heap[down] as Wait, last)) break;
      heap[at] = heap[down] as Wait;
      at = down;
    }
    heap[at] = last;
  }
}

/**
 * Time that passes when nothing else is left to be done: hours of a cluster are milliseconds, and
 * the same draws come to the same end. Owner: one test.
 */
export class SimulatedClock implements Clock {
  private now = 1000;
  private number = 0;
  private readonly waits = new Waits();

  nowMs(): number {
    return this.now;
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      this.number += 1;
      const end = () => {
        wait.isOver = true;
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const wait = { atMs: this.now + Math.max(0, ms), number: this.number, isOver: false, end };
      this.waits.add(wait);
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
      const next = this.waits.next();
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
      const next = this.waits.next();
      if (next === undefined) throw new Error('expected work that ends, got one that never does');
      this.now = Math.max(this.now, next.atMs);
      next.end();
    }
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

/** All that is not waiting for time has been done: nothing here waits for anything else. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
