/** What an entry came to. */
export interface Outcome {
  readonly offset: number;
  /** Left out: it was applied before this process began. */
  readonly value?: unknown;
  /** It was refused. */
  readonly error?: unknown;
  /** An entry of the key was there before: what that one came to. */
  readonly isRepeat?: boolean;
}

/** Newest entries whose keys are known: a change that is repeated behind them counts again. */
export const KEYS_KEPT = 4096;

/**
 * Keys of the newest entries, by which one that is repeated is known again. A function of the log
 * alone: which entries count must not depend on when a node was started.
 */
export class KeyWindow {
  private readonly outcomes = new Map<string, Outcome>();

  /** The entry of this key within the window before `offset`. */
  of(key: string, offset: number): Outcome | undefined {
    const known = this.outcomes.get(key);
    return known !== undefined && known.offset >= offset - KEYS_KEPT ? known : undefined;
  }

  put(key: string, outcome: Outcome): void {
    this.outcomes.delete(key);
    this.outcomes.set(key, outcome);
    for (const [oldest, { offset }] of this.outcomes) {
      if (offset >= outcome.offset - KEYS_KEPT) break;
      this.outcomes.delete(oldest);
    }
  }
}
