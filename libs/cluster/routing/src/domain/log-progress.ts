/** How far a node is in the log of its cluster, as it says itself. */
export interface LogWord {
  /** Identity of the log; '' for none. */
  readonly identity: string;
  readonly offset: number;
  /** Digest of the state at the offset. */
  readonly digest: string;
  /** Why the node takes no requests; '': it does. */
  readonly fault: string;
  /** It follows the log no longer, and serves on with what it has. */
  readonly isStopped: boolean;
  /** Milliseconds since its state was known to be the newest; left out: it does not say it. */
  readonly ageMs?: number;
  /** Longer than the bound of its configuration. */
  readonly isStale?: boolean;
}

/** Progress of a node that follows no log. */
export const NO_LOG: LogWord = { identity: '', offset: 0, digest: '', fault: '', isStopped: false };

export interface LogLag {
  readonly kind: 'log';
  readonly expected: string;
  readonly got: string;
}

/** Milliseconds within which a node has to be where another one was. */
const GRACE_MS = 3000;

/**
 * Nodes that do not serve what the log of their cluster says: they follow another log than the one
 * that was seen first, say so themselves, or are not yet where another node was some seconds ago.
 * Nodes that stopped, because the log lost what they have applied, are never up beside one with
 * another state: the state with the most entries serves. Pure but for the time given.
 */
export class LogProgress {
  private identity: string | undefined;
  /** Offsets that some node had reached, ascending in both. */
  private readonly reached: { readonly atMs: number; readonly offset: number }[] = [];

  /** @returns those that get no requests now, and why */
  note(all: ReadonlyMap<string, LogWord>, nowMs: number): ReadonlyMap<string, LogLag> {
    const words = [...all.values()];
    const isKnown = words.some(({ identity }) => identity === this.identity);
    if (!isKnown) {
      const fit = words.filter(({ fault }) => fault === '');
      this.identity = (fit.find(({ identity }) => identity !== '') ?? fit[0])?.identity;
      this.reached.length = 0;
    }
    const own = words.filter(({ identity }) => identity === this.identity);
    const expected = this.expectedOffset(Math.max(0, ...own.map(({ offset }) => offset)), nowMs);
    const served = servedBeside(own.filter(({ fault }) => fault === ''));
    const lags = new Map<string, LogLag>();
    for (const [name, word] of all) {
      const lag = lagOf(word, this.identity ?? word.identity, expected, served);
      if (lag !== undefined) lags.set(name, lag);
    }
    return lags;
  }

  /** The offset that was reached by somebody before the grace began. */
  private expectedOffset(offset: number, nowMs: number): number {
    if (offset > (this.reached.at(-1)?.offset ?? -1)) this.reached.push({ atMs: nowMs, offset });
    const isOld = (at: number) => (this.reached[at]?.atMs ?? nowMs) <= nowMs - GRACE_MS;
    while (isOld(1)) this.reached.shift();
    return isOld(0) ? (this.reached[0]?.offset ?? 0) : 0;
  }
}

/** The state that serves while a node has stopped; undefined: none has, all follow the log. */
function servedBeside(words: readonly LogWord[]): LogWord | undefined {
  if (!words.some(({ isStopped }) => isStopped)) return undefined;
  // Of one offset those that stopped: they have what was acknowledged.
  const order = [...words].sort(
    (a, b) =>
      b.offset - a.offset ||
      Number(b.isStopped) - Number(a.isStopped) ||
      (a.digest < b.digest ? -1 : 1),
  );
  return order[0];
}

function lagOf(
  word: LogWord,
  identity: string,
  offset: number,
  served: LogWord | undefined,
): LogLag | undefined {
  const kind = 'log';
  if (word.fault !== '') return { kind, expected: 'the state that it says', got: word.fault };
  if (word.identity !== identity) {
    const shown = (one: string) => one || 'none';
    return { kind, expected: shown(identity), got: shown(word.identity) };
  }
  const stateOf = (one: LogWord) => `entry ${one.offset}, state ${one.digest}`;
  if (served !== undefined) {
    // Two that follow one log differ by what they have yet to read.
    const isLike = served.isStopped || word.isStopped ? stateOf(word) === stateOf(served) : true;
    if (!isLike) return { kind, expected: stateOf(served), got: stateOf(word) };
  }
  if (word.offset >= offset || word.isStopped) return undefined;
  return { kind, expected: `entry ${offset}`, got: `entry ${word.offset}` };
}
