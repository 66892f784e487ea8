import type { BehaviourEvent } from '../domain/behaviour-event.js';
import type { AppendOutcome } from '../domain/behaviour-log.js';

/** Events that go together at most; a call with more goes alone. */
const EVENTS_MAX = 1000;

interface Waiting {
  readonly events: readonly BehaviourEvent[];
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (thrown: unknown) => void;
}

type Append = (events: readonly BehaviourEvent[]) => Promise<readonly AppendOutcome[]>;

/**
 * Appends that arrive during a write go with the next one, in the order of their arrival: one sync
 * of the disk for all of them. They are written, or refused, together.
 */
export class GatheredAppends {
  private readonly waiting: Waiting[] = [];

  constructor(
    /** Runs a write behind those before it. */
    private readonly inTurn: (write: () => Promise<void>) => Promise<void>,
    private readonly append: Append,
  ) {}

  add(events: readonly BehaviourEvent[]): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ events, resolve, reject });
      // Each has a turn; that of one which went with another finds nothing to do.
      void this.inTurn(() => this.writeTogether());
    });
  }

  private async writeTogether(): Promise<void> {
    const together = this.waiting.splice(0, this.countTogether());
    if (together.length === 0) return;
    try {
      const outcomes = await this.append(together.flatMap(({ events }) => events));
      let from = 0;
      for (const { events, resolve } of together) {
        resolve(outcomes.slice(from, from + events.length));
        from += events.length;
      }
    } catch (thrown) {
      for (const { reject } of together) reject(thrown);
    }
  }

  private countTogether(): number {
    let events = 0;
    const end = this.waiting.findIndex((one, at) => {
      events += one.events.length;
      return at > 0 && events > EVENTS_MAX;
    });
    return end < 0 ? this.waiting.length : end;
  }
}
