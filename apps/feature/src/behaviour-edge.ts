import { type BehaviourEvent, type BehaviourLog, checkBehaviourEvent } from '@tessera/behaviour';
import { TesseraError } from '@tessera/errors';
import type { Edge, Log, Metrics } from '@tessera/telemetry';

export interface BehaviourParts {
  readonly behaviours: BehaviourLog;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** What edges do with behaviours: check, store, count. */
export class BehaviourEdge {
  constructor(private readonly parts: BehaviourParts) {}

  /** @throws TesseraError BEHAVIOUR_INVALID naming the field */
  check(event: BehaviourEvent): void {
    checkBehaviourEvent(event, this.parts.nowMs());
  }

  /** Checked events; durable when it resolves. */
  async append(events: readonly BehaviourEvent[], edge: Edge) {
    const outcomes = await this.parts.behaviours.append(events);
    for (const outcome of outcomes) this.parts.metrics.countBehaviour(edge, outcome);
    return outcomes;
  }

  countDead(edge: Edge): void {
    this.parts.metrics.countBehaviour(edge, 'dead');
  }

  async history(userId: string, limit: number) {
    const { behaviours } = this.parts;
    const [history, profile] = await Promise.all([
      behaviours.history(userId, limit),
      behaviours.profile(userId),
    ]);
    if (history === null) {
      throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
        field: 'userId',
      });
    }
    return { history, profile: profile ?? {} };
  }

  putProfile(userId: string, profile: Readonly<Record<string, string>>): Promise<void> {
    return this.parts.behaviours.putProfile(userId, profile);
  }

  erase(userId: string): Promise<boolean> {
    return this.parts.behaviours.erase(userId, this.parts.nowMs());
  }
}
