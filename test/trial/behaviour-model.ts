/** Chooses the kept ones of all behaviours ever sent: the rule restated over all of them. */

export interface SentBehaviour {
  readonly userId: string;
  readonly eventId: string;
  readonly itemId: string;
  readonly action: string;
  readonly timeMs: number;
}

interface Window {
  readonly actions: readonly string[];
  readonly count: number;
  readonly ageMs: number;
}

const DAY_MS = 86_400_000;

/** As they are sent to the service; ages are far from those that the traffic draws. */
export const RETENTION = 'buy=4; view|hover=5,30d; *=8';
const WINDOWS: readonly Window[] = [
  { actions: ['buy'], count: 4, ageMs: Number.POSITIVE_INFINITY },
  { actions: ['view', 'hover'], count: 5, ageMs: 30 * DAY_MS },
];
const OTHERS: Window = { actions: [], count: 8, ageMs: Number.POSITIVE_INFINITY };

export class BehaviourModel {
  private readonly events = new Map<string, SentBehaviour>();
  private readonly erasedUntilMs = new Map<string, number>();

  /** However often; an event ID says all that the event is. */
  add(behaviour: SentBehaviour): void {
    this.events.set(JSON.stringify([behaviour.userId, behaviour.eventId]), behaviour);
  }

  /** Events of the user up to this time count no more. */
  erase(userId: string, untilMs: number): void {
    this.erasedUntilMs.set(userId, untilMs);
  }

  get userIds(): string[] {
    return [...new Set([...this.events.values()].map(({ userId }) => userId))].sort();
  }

  /** Oldest first. */
  kept(userId: string, nowMs: number): SentBehaviour[] {
    const erased = this.erasedUntilMs.get(userId) ?? Number.NEGATIVE_INFINITY;
    const own = [...this.events.values()].filter(
      (event) => event.userId === userId && event.timeMs > erased,
    );
    return [...WINDOWS, OTHERS]
      .flatMap((window) => {
        const inside = own.filter(
          ({ action, timeMs }) => windowOf(action) === window && timeMs >= nowMs - window.ageMs,
        );
        return inside.sort(byTime).slice(-window.count);
      })
      .sort(byTime);
  }
}

const windowOf = (action: string): Window =>
  WINDOWS.find(({ actions }) => actions.includes(action)) ?? OTHERS;

/** Behaviours of equal time stay in the order in which they were sent. */
const byTime = (a: SentBehaviour, b: SentBehaviour) => a.timeMs - b.timeMs;
