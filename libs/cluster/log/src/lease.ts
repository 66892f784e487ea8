import type { ClusterLog, NodePosition } from './domain/cluster-log.js';

/**
 * Milliseconds after which a node that reports no position is waited for no longer: long enough for
 * a pause of the process or a failover of the log, short enough for an erasure that waits.
 */
export const LEASE_MS = 3000;

/**
 * The word of a node that it serves, renewed at the log. While it holds, whoever erases a user
 * waits for this node; once it has run out nobody does, and the node must not trust what it keeps
 * of users until it has applied all that the log had when it was counted again.
 */
export class Lease {
  /** By performance.now(), from before the word was sent. */
  private until = Number.NEGATIVE_INFINITY;
  private caughtUpAt = Number.POSITIVE_INFINITY;

  constructor(
    private readonly log: Pick<ClusterLog, 'say' | 'bounds'>,
    private readonly leaseMs: number,
  ) {}

  holds(offset: number): boolean {
    return performance.now() < this.until && offset >= this.caughtUpAt;
  }

  /** Rejects as the log does. */
  async renew(position: NodePosition): Promise<void> {
    const begun = performance.now();
    const hasLapsed = begun >= this.until;
    if (hasLapsed) this.caughtUpAt = Number.POSITIVE_INFINITY;
    await this.log.say(position);
    // Asked behind the word: what is acknowledged later has waited for this node.
    if (this.caughtUpAt === Number.POSITIVE_INFINITY) {
      this.caughtUpAt = (await this.log.bounds()).end;
    }
    this.until = begun + this.leaseMs;
  }

  end(): void {
    this.until = Number.NEGATIVE_INFINITY;
  }
}
