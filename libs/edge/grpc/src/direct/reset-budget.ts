const MS_PER_SECOND = 1000;

/**
 * A client that gives up resets its call. Callers with deadlines do that under overload without any
 * ill will; one that only begins calls and resets them costs the service what it does not pay for.
 */
export const RESETS = { burst: 20_000, perSecond: 2000 } as const;

/** Resets that a connection may still have. */
export class ResetBudget {
  private left: number = RESETS.burst;
  private filledMs: number;

  constructor(private readonly nowMs: () => number = () => performance.now()) {
    this.filledMs = nowMs();
  }

  /** False: there have been too many. */
  take(): boolean {
    const now = this.nowMs();
    const earned = ((now - this.filledMs) * RESETS.perSecond) / MS_PER_SECOND;
    this.left = Math.min(RESETS.burst, this.left + earned) - 1;
    this.filledMs = now;
    return this.left >= 0;
  }
}
