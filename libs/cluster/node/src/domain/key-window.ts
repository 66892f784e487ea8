/** Result of an entry. */
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

interface Kept {
  /** Outcome of the first entry of the key. */
  readonly outcome: Outcome;
  /** Offset of the newest entry of the key: also one that did not count keeps the key known. */
  readonly newest: number;
}

/**
 * Keys of the newest entries, by which one that is repeated is known again. A function of those
 * entries alone: which ones count must not depend on when a node was started.
 */
export class KeyWindow {
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly count: number = KEYS_KEPT) {}

  /** Outcome of the first entry of this key, if one is within the window before `offset`. */
  of(key: string, offset: number): Outcome | undefined {
    const known = this.kept.get(key);
    return known !== undefined && known.newest >= offset - this.count ? known.outcome : undefined;
  }

  /** @param newest offset of the entry that bears the key; the outcome may be an older one's */
  put(key: string, outcome: Outcome, newest = outcome.offset): void {
    this.kept.delete(key);
    this.kept.set(key, { outcome, newest });
    for (const [oldest, { newest: last }] of this.kept) {
      if (last >= newest - this.count) break;
      this.kept.delete(oldest);
    }
  }
}
