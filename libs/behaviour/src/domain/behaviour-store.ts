/** One thing that a user did. */
export interface Behaviour {
  readonly itemId: string;
  /** e.g. `click`; '' where the source has item IDs alone. */
  readonly action: string;
  /** Seconds since 1970; 0 where the source has none. */
  readonly time: number;
}

/** DI token and port: what is known of users. Safe to call concurrently. */
export abstract class BehaviourStore {
  /** null: not counted. */
  abstract readonly userCount: number | null;
  /** The newest `limit` behaviours, oldest first; null where the user is not known. */
  abstract history(userId: string, limit: number): Promise<readonly Behaviour[] | null>;
  /** Profile values by key; null where the user is not known. */
  abstract profile(userId: string): Promise<Readonly<Record<string, string>> | null>;
  /** At most `limit` user IDs, in a fixed order. */
  abstract userIds(limit: number): Promise<readonly string[]>;
}
