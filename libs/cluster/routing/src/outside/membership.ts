import type { Member } from '../domain/members.js';

export interface MembershipReading {
  readonly state: 'ok' | 'degraded';
  /** '' where the state is `ok`. */
  readonly reason: string;
}

export type TakeMembers = (members: readonly Member[]) => Promise<void>;

/**
 * Where the nodes of a cluster are known from. While its source is away the last members stand.
 * Owner: one gateway.
 */
export interface Membership {
  /**
   * Calls `onMembers` with the first members before it resolves, and then with each change. Of
   * members that it rejects it is called again.
   * @throws TesseraError CONFIG_INVALID for members that cannot be
   */
  start(onMembers: TakeMembers): Promise<void>;
  reading(): MembershipReading;
  close(): void;
}

/** The nodes that the configuration names. */
export class StaticMembership implements Membership {
  constructor(private readonly members: readonly Member[]) {}

  async start(onMembers: TakeMembers): Promise<void> {
    await onMembers(this.members);
  }

  reading(): MembershipReading {
    return { state: 'ok', reason: '' };
  }

  close(): void {
    // Nothing is open.
  }
}
