import { setTimeout as after } from 'node:timers/promises';
import { TICKS_OF_HOUR } from './world.js';

const TICK_SECONDS = 3600 / TICKS_OF_HOUR;
const FIRST_WAIT_MS = 250;
const WAIT_MS_MAX = 5000;
/** Of a service that is away. */
const AWAY_ATTEMPTS_MAX = 120;

const WALL = { nowMs: () => performance.now(), after: (ms: number): Promise<unknown> => after(ms) };

/** When the ticks of a world are due by the wall clock. */
export class Pace {
  private dueMs: number;
  private hasWaited = false;

  /** @param speed simulated seconds of a second; undefined: each tick is due at once */
  constructor(
    private readonly speed: number | undefined,
    private readonly clock = WALL,
  ) {
    this.dueMs = clock.nowMs();
  }

  /** Of the next tick, when it is due: `past` if it went by while the service was away. */
  async next(): Promise<'now' | 'past'> {
    if (this.speed === undefined) return 'now';
    const tickMs = (TICK_SECONDS * 1000) / this.speed;
    const now = this.clock.nowMs();
    const isPast = this.hasWaited && this.dueMs + tickMs <= now;
    if (this.dueMs > now) await this.clock.after(this.dueMs - now);
    // A slow service makes the world late, not denser.
    else if (!isPast) this.dueMs = now;
    this.dueMs += tickMs;
    if (!isPast) this.hasWaited = false;
    return isPast ? 'past' : 'now';
  }

  /** Pauses before another attempt; false: there is none. */
  async waitAgain(attempt: number): Promise<boolean> {
    if (attempt >= AWAY_ATTEMPTS_MAX) return false;
    this.hasWaited = true;
    await this.clock.after(Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10)));
    return true;
  }
}
