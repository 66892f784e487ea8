import { MILLISECONDS_PER_SECOND } from '@tessera/units';

/** The rate is that of the windows of the last second at least, and of so many answers, ... */
const SPAN_MS_MIN = 1000;
const ANSWERS_MIN = 64;
/** ... but of no longer ago than this. */
const SPAN_MS_MAX = 5000;

interface Window {
  readonly ms: number;
  readonly answered: number;
  /** Calls whose callers went while there was time. */
  readonly withdrawn: number;
}

interface Known {
  readonly rate: number;
  readonly backlogged: readonly Window[];
}

const msOf = (windows: readonly Window[]) => windows.reduce((sum, { ms }) => sum + ms, 0);
const answersOf = (windows: readonly Window[]) =>
  windows.reduce((sum, { answered }) => sum + answered, 0);

/** The newest windows of together so many milliseconds at least, or all. */
function newest(windows: readonly Window[], ms: number): readonly Window[] {
  let first = windows.length;
  for (let total = 0; total < ms && first > 0; total += windows[first]?.ms ?? 0) first -= 1;
  return windows.slice(first);
}

/**
 * Answers a second that a process is good for, from windows of time. A window with a backlog shows
 * the capacity, any other window a lower bound of it: without that a rate that was measured too low
 * would never be corrected, since it keeps the backlog away. Pure.
 */
export class AnswerRate {
  private backlogged: readonly Window[] = [];
  private recent: readonly Window[] = [];
  private rate = Number.POSITIVE_INFINITY;
  /** The backlog under way, and the knowledge before it. */
  private backlog: (Window & Known) | undefined;

  /** Infinity before anything was answered with a backlog. */
  get perSecond(): number {
    return this.rate;
  }

  /** @param isItsEnd no backlog any more, but answers that the one before waited for */
  note(window: Window, hasBacklog: boolean, isItsEnd = false): void {
    this.recent = newest([...this.recent, window], SPAN_MS_MIN);
    const isShown = this.showsCapacity(window, hasBacklog);
    if (isShown && (hasBacklog || isItsEnd)) this.noteCapacity(window);
    const ms = msOf(this.recent);
    if (ms < SPAN_MS_MIN) return;
    const lowest = (answersOf(this.recent) * MILLISECONDS_PER_SECOND) / ms;
    if (lowest > this.rate) {
      this.rate = lowest;
      this.backlogged = this.recent;
    }
  }

  /**
   * A short backlog that ended since its callers went, not since they were answered, shows nothing:
   * its first answers come late. Under a long one callers go since they are not answered.
   */
  private showsCapacity(window: Window, hasBacklog: boolean): boolean {
    const { rate, backlogged } = this;
    if (this.backlog === undefined && !hasBacklog) return true;
    const before = this.backlog ?? { rate, backlogged, ms: 0, answered: 0, withdrawn: 0 };
    const answered = before.answered + window.answered;
    const withdrawn = before.withdrawn + window.withdrawn;
    if (hasBacklog) {
      this.backlog = { ...before, ms: before.ms + window.ms, answered, withdrawn };
      return true;
    }
    this.backlog = undefined;
    if (before.ms > SPAN_MS_MAX || withdrawn <= answered) return true;
    this.rate = before.rate;
    this.backlogged = before.backlogged;
    return false;
  }

  private noteCapacity(window: Window): void {
    this.backlogged = [...this.backlogged, window];
    while (this.reachesWithoutOldest()) this.backlogged = this.backlogged.slice(1);
    const answered = answersOf(this.backlogged);
    // Nothing was answered yet: nothing is known.
    if (answered > 0) this.rate = (answered * MILLISECONDS_PER_SECOND) / msOf(this.backlogged);
  }

  private reachesWithoutOldest(): boolean {
    const rest = this.backlogged.slice(1);
    const ms = msOf(rest);
    return ms > SPAN_MS_MAX || (ms >= SPAN_MS_MIN && answersOf(rest) >= ANSWERS_MIN);
  }
}
