/** A wall clock that moves by more against the monotonic one has jumped. */
const JUMP_MS = 300_000;
const MINUTE_MS = 60_000;

/**
 * The time of day, and how far it is to be trusted. A jump ages nothing: removal by age asks for
 * the earliest time that it may be, a refusal of times ahead for the latest. A jump lasts until the
 * clock is put right, or the process ends.
 */
export class SteadyClock {
  private wallAtMs: number;
  private steadyAtMs: number;

  constructor(
    private readonly wallMs: () => number = Date.now,
    private readonly steadyMs: () => number = () => performance.now(),
  ) {
    this.wallAtMs = wallMs();
    this.steadyAtMs = steadyMs();
  }

  /** Milliseconds since 1970. */
  readonly earliestMs = (): number => this.wallMs() - Math.max(0, this.jumpMs());

  /** Milliseconds since 1970. */
  readonly latestMs = (): number => this.wallMs() - Math.min(0, this.jumpMs());

  /** Condition of the process. */
  reading(): { readonly state: 'ok' | 'degraded'; readonly reason: string } {
    const jumpMs = this.jumpMs();
    if (jumpMs === 0) return { state: 'ok', reason: '' };
    const minutes = Math.round(Math.abs(jumpMs) / MINUTE_MS);
    const reason =
      `the clock jumped ${minutes} min ${jumpMs > 0 ? 'ahead' : 'back'}: nothing is removed by ` +
      'age until it is put right or, where it is right now, the process starts anew';
    return { state: 'degraded', reason };
  }

  /** Ahead of the time before the jump; 0: there is none. */
  private jumpMs(): number {
    const wallMs = this.wallMs();
    const steadyMs = this.steadyMs();
    const jumpMs = wallMs - (this.wallAtMs + steadyMs - this.steadyAtMs);
    if (Math.abs(jumpMs) > JUMP_MS) return jumpMs;
    this.wallAtMs = wallMs;
    this.steadyAtMs = steadyMs;
    return 0;
  }
}

/** Clock of this process. */
export const CLOCK = new SteadyClock();
