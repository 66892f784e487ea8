import type { ChangeAudits } from '@tessera/access';
import { type BehaviourEvent, type BehaviourLog, checkBehaviourEvent } from '@tessera/behaviour';
import { asSignal, type Call } from '@tessera/call';
import { TesseraError } from '@tessera/errors';
import type { Erased, Erasure } from '@tessera/node';
import type { Carrier, Edge, Log, Metrics, Tracing } from '@tessera/telemetry';
import type { KvFollower } from './kv-follower.js';

export interface BehaviourParts {
  readonly behaviours: BehaviourLog;
  readonly metrics: Metrics;
  /** Refuses a profile that no prompt can show; left out: this process has no prompts. */
  readonly checkProfile?: ((profile: Readonly<Record<string, string>>) => void) | undefined;
  /** Told of what is stored now; left out: nobody is. */
  readonly onAdded?: ((events: readonly BehaviourEvent[]) => void) | undefined;
  readonly erasure: ErasesUsers;
  readonly changes: Pick<ChangeAudits, 'audited' | 'note' | 'noted'>;
  readonly follower: Pick<KvFollower, 'follow'>;
  readonly tracing: Tracing;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Caller and edge of a change. */
type Asker = Pick<Call, 'edge' | 'caller' | 'signal'>;

/** Erases users everywhere: a node of a cluster, or the list of a process that follows no log. */
export interface ErasesUsers {
  /** Acknowledged when it holds everywhere. Rejects where the signal is aborted before. */
  erase(erasure: Erasure, signal?: AbortSignal): Promise<Erased>;
}

const EVERYTHING = { withBehaviours: true, withRecords: true } as const;

/** Erases all that is kept of a user. */
export const eraseWhole = (erasure: ErasesUsers, userId: string, signal?: AbortSignal) =>
  erasure.erase({ userId, ...EVERYTHING }, signal);

/** Checks, stores and counts behaviours, for all edges. */
export class BehaviourEdge {
  constructor(private readonly parts: BehaviourParts) {}

  /** @throws TesseraError BEHAVIOUR_INVALID naming the field */
  check(event: BehaviourEvent): void {
    checkBehaviourEvent(event, this.parts.nowMs());
  }

  /** Checked events; durable when it resolves. */
  async append(events: readonly BehaviourEvent[], edge: Edge, actor: string) {
    const change = { action: 'append-behaviours', actor, edge, name: '' };
    const detail = () => `${events.length} behaviours`;
    const append = () => this.parts.behaviours.append(events);
    const outcomes = await this.parts.changes.noted(change, append, detail);
    for (const outcome of outcomes) this.parts.metrics.countBehaviour(edge, outcome);
    const added = events.filter((_, index) => outcomes[index] === 'added');
    this.parts.onAdded?.(added);
    this.parts.follower.follow(added.map((event) => event.userId));
    return outcomes;
  }

  countDead(edge: Edge): void {
    this.parts.metrics.countBehaviour(edge, 'dead');
  }

  /** `caller`: the trace that the call belongs to. */
  history(userId: string, limit: number, caller: Carrier) {
    return this.parts.tracing.serve('history', caller, () => this.historyOf(userId, limit));
  }

  /** @throws TesseraError REQUEST_INVALID naming a value that no prompt can show */
  async putProfile(
    userId: string,
    profile: Readonly<Record<string, string>>,
    { edge, caller }: Asker,
  ): Promise<void> {
    this.parts.checkProfile?.(profile);
    const change = { action: 'put-profile', actor: caller.name, edge, name: userId };
    await this.parts.changes.noted(change, () => this.parts.behaviours.putProfile(userId, profile));
  }

  erase(userId: string, { edge, caller, signal }: Asker): Promise<Erased> {
    const change = { action: 'erase-user', actor: caller.name, edge, name: userId };
    const act = () => eraseWhole(this.parts.erasure, userId, asSignal(signal));
    return this.parts.changes.audited(change, act, ({ known }) => (known ? '' : 'was not known'));
  }

  private async historyOf(userId: string, limit: number) {
    const user = await this.parts.behaviours.user(userId, limit);
    if (user !== null) return user;
    throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
      field: 'userId',
    });
  }
}
