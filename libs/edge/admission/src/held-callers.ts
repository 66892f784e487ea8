/** The sender of calls over one connection. */
export interface Caller {
  /** Tells the caller to keep its calls, in which those whose deadlines pass end at the caller. */
  hold(): void;
  /** Takes calls of the caller again. Does nothing where the connection is gone. */
  release(): void;
}

interface Open {
  /** Time of its release; before all times: it was never held. */
  readonly sinceMs: number;
  readonly refusedMs: number;
}

/** Part of the thread's time that refusals may take before callers are held. */
const REFUSAL_SHARE = 0.05;
/** Milliseconds of the thread that a refusal takes: one HTTP/2 stream from its head to its end. */
const REFUSAL_MS = 0.1;
/** Milliseconds of refusals that a quiet time saves up. */
const SAVED_MS_MAX = 5;
/** How often held callers are looked at. */
const LOOK_MS = 10;
/** Part of those that send, or are held, that is held or released at a time; one at least. */
const PART = 1 / 8;
/** Milliseconds from a hold to the next one: by then the calls that were on their way have come. */
const HOLD_GAP_MS = 10;
/** Milliseconds from a release to the next one: by then the calls that it brings have come. */
const SETTLE_MS = 30;
/** Milliseconds since its last refusal in which a caller counts as one that sends. */
const SENDING_MS = 300;
/**
 * Milliseconds after which those held for longest take their turn although there is no room, and in
 * which they are not held again: what a caller kept is stale when it is let in.
 */
const TURN_MS = 200;

/**
 * Callers that keep their calls for a while, since to refuse them would take more of the thread
 * than answers leave: at ten times the capacity nine refusals for each answer. A caller's calls
 * wait in order, so a caller that is limited sends those whose time is nearly over. Therefore some
 * callers are held whole, by turns, and the others are served without a queue.
 *
 *   held      <=>  refusals have taken their share, and it has sent calls for longest, for a turn
 *   released  <=>  it was held for longest, and there is room or its turn has come
 */
export class HeldCallers {
  /** Callers whose calls were refused, and which may send. */
  private readonly open = new Map<Caller, Open>();
  private readonly releasedMs = new WeakMap<Caller, number>();
  /** Longest held first. */
  private readonly held = new Set<Caller>();
  /** Milliseconds of refusals that the share still allows; negative: they have overdrawn it. */
  private savedMs = SAVED_MS_MAX;
  private countedMs: number;
  private lastHoldMs = Number.NEGATIVE_INFINITY;
  private lastTurnMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly random: () => number = Math.random,
  ) {
    this.countedMs = nowMs();
  }

  get count(): number {
    return this.held.size;
  }

  /**
   * Notes that a call of the caller is refused, and holds a caller where refusals take too much.
   * @param hasRoom asked while callers are held
   */
  refused(caller: Caller, hasRoom: () => boolean): void {
    if (this.isClosed) return;
    const now = this.nowMs();
    this.earn(now);
    this.savedMs = Math.max(-SAVED_MS_MAX, this.savedMs - REFUSAL_MS);
    if (!this.held.has(caller)) {
      const sinceMs = this.releasedMs.get(caller) ?? Number.NEGATIVE_INFINITY;
      this.open.set(caller, { sinceMs, refusedMs: now });
    }
    if (this.savedMs < 0 && now - this.lastHoldMs >= HOLD_GAP_MS)
      this.holdLongestOpen(now, hasRoom);
  }

  /** The connection is gone. */
  forget(caller: Caller): void {
    this.open.delete(caller);
    this.held.delete(caller);
  }

  /** Releases all, and holds nobody any more. */
  close(): void {
    this.isClosed = true;
    for (const caller of this.held) caller.release();
    this.held.clear();
    this.stop();
  }

  /** The last one that sends is never held: nothing would be left to answer. */
  private holdLongestOpen(now: number, hasRoom: () => boolean): void {
    for (const [caller, { refusedMs }] of this.open) {
      if (now - refusedMs > SENDING_MS) this.open.delete(caller);
    }
    const many = Math.min(Math.ceil(this.open.size * PART), this.open.size - 1);
    const longest = [...this.open]
      .filter(([, { sinceMs }]) => now - sinceMs >= TURN_MS)
      .sort(([, a], [, b]) => a.sinceMs - b.sinceMs)
      .slice(0, many);
    for (const [caller] of longest) {
      if (this.held.size === 0) this.lastTurnMs = now;
      this.lastHoldMs = now;
      this.open.delete(caller);
      this.held.add(caller);
      caller.hold();
    }
    if (this.held.size > 0) this.timer ??= setInterval(() => this.look(hasRoom), LOOK_MS).unref();
  }

  private earn(now: number): void {
    const earnedMs = (now - this.countedMs) * REFUSAL_SHARE;
    this.savedMs = Math.min(SAVED_MS_MAX, this.savedMs + earnedMs);
    this.countedMs = now;
  }

  private look(hasRoom: () => boolean): void {
    const now = this.nowMs();
    this.earn(now);
    const sinceMs = now - this.lastTurnMs;
    const isTurn = sinceMs >= TURN_MS;
    // A thread that is busy with refusals has no room, however little it answers.
    const isRoom = sinceMs >= SETTLE_MS && this.savedMs >= 0 && hasRoom();
    if (isTurn || isRoom) this.releaseLongestHeld(now);
    if (this.held.size === 0) this.stop();
  }

  private releaseLongestHeld(now: number): void {
    const many = Math.ceil(this.held.size * PART);
    for (const caller of [...this.held].slice(0, many)) {
      this.held.delete(caller);
      // Turns of one length fall in step with one another, and then always on the same.
      this.releasedMs.set(caller, now + (this.random() - 0.5) * TURN_MS);
      caller.release();
    }
    this.lastTurnMs = now;
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
