import type { StoreReach } from '@tessera/breaker';
import type { Retention } from './retention.js';

/** One thing that a user did. */
export interface Behaviour {
  readonly itemId: string;
  /** e.g. `click`; '' where the source has item IDs alone. */
  readonly action: string;
  /** Seconds since 1970; 0 where the source has none. */
  readonly time: number;
}

/** A user's profile and behaviours. */
export interface UserBehaviours<Kept extends Behaviour = Behaviour> {
  /** Oldest first. */
  readonly behaviours: readonly Kept[];
  readonly profile: Readonly<Record<string, string>>;
}

/** DI token and port: what is known of users. Safe to call concurrently. */
export abstract class BehaviourStore<Kept extends Behaviour = Behaviour> {
  /** null: not counted. */
  abstract readonly userCount: number | null;
  /** The newest `limit` behaviours, oldest first; null where the user is not known. */
  abstract history(userId: string, limit: number): Promise<readonly Kept[] | null>;
  /** Profile values by key; null where the user is not known. */
  abstract profile(userId: string): Promise<Readonly<Record<string, string>> | null>;
  /**
   * The newest `limit` behaviours and the profile; null where the user is not known.
   * @param _budgetMs milliseconds that the request has left, of which a store on another machine
   *   may wait a share
   */
  async user(
    userId: string,
    limit: number,
    _budgetMs?: number,
  ): Promise<UserBehaviours<Kept> | null> {
    const [behaviours, profile] = await Promise.all([
      this.history(userId, limit),
      this.profile(userId),
    ]);
    return behaviours === null ? null : { behaviours, profile: profile ?? {} };
  }

  /** Retention of the store; undefined: everything, or known to another process alone. */
  get retention(): Retention | undefined {
    return undefined;
  }

  /** True if the store can be reached; one that is not on another machine always can. */
  reach(): StoreReach {
    return { state: 'ok', reason: '' };
  }

  /** At most `limit` user IDs that begin with `prefix` (left out: any), in a fixed order. */
  abstract userIds(limit: number, prefix?: string): Promise<readonly string[]>;
}
