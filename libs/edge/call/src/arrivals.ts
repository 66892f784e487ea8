/** A pause between two turns of the event loop for which it had nothing to do, milliseconds. */
const IDLE_MS = 2;

/**
 * Tells how long bytes may have waited for the thread. A turn of the event loop reads the sockets
 * that have bytes one after the other, and the bytes of the last came, at the earliest, when the
 * turn before had read its own. A deadline of gRPC is a duration, so a call that waits before it is
 * read would be served beyond it.
 */
export class Arrivals {
  private turnMs = 0;
  private endedMs = 0;
  /** Duration of the turn before, 0 where the loop was idle since. */
  private beforeMs = 0;
  private isInTurn = false;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Longest wait of the bytes that are read now, milliseconds. To be asked as they are read. */
  get waitedMs(): number {
    const now = this.nowMs();
    if (!this.isInTurn) this.begin(now);
    return now - this.turnMs + this.beforeMs;
  }

  private begin(now: number): void {
    this.isInTurn = true;
    if (now - this.endedMs > IDLE_MS) this.beforeMs = 0;
    this.turnMs = now;
    // The loop comes to these behind all sockets that have bytes now.
    setImmediate(() => {
      this.isInTurn = false;
      this.endedMs = this.nowMs();
      this.beforeMs = this.endedMs - this.turnMs;
    });
  }
}

/** Arrivals of this process. */
export const ARRIVALS = new Arrivals();
