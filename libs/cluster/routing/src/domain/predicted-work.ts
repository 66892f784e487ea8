import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

interface Begun {
  leftUs: number;
}

/**
 * Predicted microseconds of the parts that a node has: those of one router, and what the node has
 * said that it has beyond them. Work is done as time goes by, the oldest first. Owner: whoever
 * routes; single-threaded.
 */
export class PredictedWork {
  private readonly parts = new Set<Begun>();
  /** Work reported by other routers and by the node itself. */
  private foreignUs = 0;
  private steppedMs = 0;

  /** Until the node has done what it has. */
  backlogUs(nowMs: number): number {
    this.step(nowMs);
    return this.ownUs() + this.foreignUs;
  }

  /** A part of so many microseconds begins. @returns what ends it */
  begin(us: number, nowMs: number): (endMs: number) => void {
    this.step(nowMs);
    const part = { leftUs: us };
    this.parts.add(part);
    return (endMs) => {
      this.step(endMs);
      this.parts.delete(part);
    };
  }

  /** The node has said how much it has, of all routers together. */
  state(us: number, nowMs: number): void {
    this.step(nowMs);
    this.foreignUs = Math.max(0, us - this.ownUs());
  }

  private ownUs(): number {
    let us = 0;
    for (const { leftUs } of this.parts) us += leftUs;
    return us;
  }

  private step(nowMs: number): void {
    let doneUs = Math.max(0, nowMs - this.steppedMs) * MICROSECONDS_PER_MILLISECOND;
    this.steppedMs = Math.max(this.steppedMs, nowMs);
    for (const part of this.parts) {
      const us = Math.min(part.leftUs, doneUs);
      part.leftUs -= us;
      doneUs -= us;
    }
    this.foreignUs = Math.max(0, this.foreignUs - doneUs);
  }
}
