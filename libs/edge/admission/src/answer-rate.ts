import { MILLISECONDS_PER_SECOND } from '@tessera/units';

/** The rate is that of the windows of the last second at least, and of so many answers, ... */
const SPAN_MS_MIN = 1000;
const ANSWERS_MIN = 64;
/** ... but of no longer ago than this. */
const SPAN_MS_MAX = 5000;

interface Window {
  readonly ms: number;
  readonly answered: number;
  /** Calls whose callers went while there was time: they leave the backlog as answers do. */
  readonly withdrawn: number;
}

const msOf = (windows: readonly Window[]) => windows.reduce((sum, { ms }) => sum + ms, 0);
const answersOf = (windows: readonly Window[]) =>
  windows.reduce((sum, { answered }) => sum + answered, 0);
const departuresOf = (windows: readonly Window[]) =>
  windows.reduce((sum, { answered, withdrawn }) => sum + answered + withdrawn, 0);

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

  /** Infinity before anything was answered with a backlog. */
  get perSecond(): number {
    return this.rate;
  }

  note(window: Window, hasBacklog: boolean): void {
    this.recent = newest([...this.recent, window], SPAN_MS_MIN);
    if (hasBacklog) this.noteCapacity(window);
    const ms = msOf(this.recent);
    if (ms < SPAN_MS_MIN) return;
    const lowest = (answersOf(this.recent) * MILLISECONDS_PER_SECOND) / ms;
    if (lowest > this.rate) {
      this.rate = lowest;
      this.backlogged = this.recent;
    }
  }

  private noteCapacity(window: Window): void {
    this.backlogged = [...this.backlogged, window];
    while (this.reachesWithoutOldest()) this.backlogged = this.backlogged.slice(1);
    const ended = departuresOf(this.backlogged);
    // Nothing has ended yet: nothing is known.
    if (ended > 0) this.rate = (ended * MILLISECONDS_PER_SECOND) / msOf(this.backlogged);
  }

  private reachesWithoutOldest(): boolean {
    const rest = this.backlogged.slice(1);
    const ms = msOf(rest);
    return ms > SPAN_MS_MAX || (ms >= SPAN_MS_MIN && departuresOf(rest) >= ANSWERS_MIN);
  }
}
