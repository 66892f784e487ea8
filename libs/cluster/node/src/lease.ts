import { type ClusterLog, LEASE_MS, type NodePosition } from '@tessera/log';
import type { Clock } from '@tessera/turns';

/** The other nodes do not count on this one. */
const LAPSED = Number.NEGATIVE_INFINITY;

/** The log, as far as a lease needs it. */
export type LeasedLog = Pick<ClusterLog, 'say' | 'bounds'> & {
  /** Learns how far others have been, also those who are away. */
  hear(): Promise<void>;
};

/**
 * How long others wait for this node. After it expires they stop waiting; until the node has caught
 * up again it must not use what it keeps of users, and nothing that was accepted before counts.
 */
export class Lease {
  private until = LAPSED;
  /** The end of the log when the node was counted again. */
  private caughtUpAt = Number.POSITIVE_INFINITY;
  private isEnded = false;
  private times = 0;
  private heldMs: number;

  constructor(
    private readonly log: LeasedLog,
    private readonly clock: Clock,
  ) {
    this.heldMs = clock.nowMs();
  }

  holds(offset: number): boolean {
    return this.clock.nowMs() < this.until && offset >= this.caughtUpAt;
  }

  /** Number of the time since the lease lapsed last: while it is the same nothing was missed. */
  get term(): number {
    return this.clock.nowMs() < this.until ? this.times : -1;
  }

  /** Milliseconds since the state was known to be the newest; 0 while the lease holds. */
  ageMs(offset: number): number {
    const nowMs = this.clock.nowMs();
    if (offset >= this.caughtUpAt) this.heldMs = Math.max(this.heldMs, Math.min(this.until, nowMs));
    return nowMs - this.heldMs;
  }

  /** Rejects as the log does: LOG_DIFFERENT where it went back meanwhile. */
  async renew(position: NodePosition): Promise<void> {
    if (this.isEnded) return;
    const begun = this.clock.nowMs();
    if (begun >= this.until) this.lapse();
    const until = Math.min(await this.log.say(position), begun + LEASE_MS);
    // Changes may have been acknowledged without this node, and the log may have lost them.
    if (this.caughtUpAt === Number.POSITIVE_INFINITY) {
      await this.log.hear();
      // Behind the word of this node: later acknowledgements include it.
      this.caughtUpAt = (await this.log.bounds()).end;
      this.times += 1;
    }
    this.until = this.isEnded ? LAPSED : until;
  }

  /** The others are about to be told that they need not wait. */
  lapse(): void {
    if (this.caughtUpAt !== Number.POSITIVE_INFINITY) {
      this.heldMs = Math.max(this.heldMs, Math.min(this.until, this.clock.nowMs()));
    }
    this.until = LAPSED;
    this.caughtUpAt = Number.POSITIVE_INFINITY;
  }

  end(): void {
    this.isEnded = true;
    this.lapse();
  }
}
