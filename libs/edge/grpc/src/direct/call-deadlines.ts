const TICK_MS = 8;

/**
 * Deadlines of many calls with one timer: a call's own would cost as much as its headers. A call
 * hears of its deadline at most a tick late, and nearly all calls end before theirs.
 */
export class CallDeadlines {
  private readonly ticks = new Map<number, Set<() => void>>();
  private timer: NodeJS.Timeout | undefined;
  private next = 0;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @returns what takes the deadline back */
  add(atMs: number, passed: () => void): () => void {
    if (this.timer === undefined) this.start();
    // A deadline in the past fires with the next tick: earlier ticks are not looked at again.
    const tick = Math.max(Math.ceil(atMs / TICK_MS), this.next);
    let set = this.ticks.get(tick);
    if (set === undefined) {
      set = new Set();
      this.ticks.set(tick, set);
    }
    set.add(passed);
    const own = set;
    return () => {
      if (own.delete(passed) && own.size === 0) this.ticks.delete(tick);
    };
  }

  private start(): void {
    this.next = Math.floor(this.nowMs() / TICK_MS);
    this.timer = setInterval(() => this.pass(), TICK_MS);
    this.timer.unref();
  }

  private pass(): void {
    const now = Math.floor(this.nowMs() / TICK_MS);
    for (; this.next <= now; this.next++) {
      const due = this.ticks.get(this.next);
      this.ticks.delete(this.next);
      for (const passed of due ?? []) passed();
    }
    if (this.ticks.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
