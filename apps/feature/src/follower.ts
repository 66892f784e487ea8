/** Who is told of users whose behaviours are stored now. */
export interface Follower {
  follow(userIds: Iterable<string>): void;
  /** Forgets what was computed of a user. */
  erase(userId: string): Promise<void>;
}

/** Where no retrieval process is named: keys and values follow at the user's next visit. */
export const NO_FOLLOWER: Follower = { follow: () => undefined, erase: async () => undefined };
