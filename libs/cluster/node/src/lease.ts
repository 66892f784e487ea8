import { type ClusterLog, LEASE_MS, type NodePosition } from '@tessera/log';

/** The other nodes do not count on this one. */
const LAPSED = Number.NEGATIVE_INFINITY;

/**
 * How long others wait for this node. After it expires they stop waiting; until the node has caught
 * up again it must not use what it keeps of users. All times are of performance.now().
 */
export class Lease {
  private until = LAPSED;
  /** The end of the log when the node was counted again. */
  private caughtUpAt = Number.POSITIVE_INFINITY;
  private isEnded = false;

  constructor(private readonly log: Pick<ClusterLog, 'say' | 'bounds'>) {}

  holds(offset: number): boolean {
    return performance.now() < this.until && offset >= this.caughtUpAt;
  }

  /** Rejects as the log does. */
  async renew(position: NodePosition): Promise<void> {
    if (this.isEnded) return;
    const begun = performance.now();
    if (begun >= this.until) this.caughtUpAt = Number.POSITIVE_INFINITY;
    const until = Math.min(await this.log.say(position), begun + LEASE_MS);
    // Read the end of the log after reporting: later acknowledgements include this node.
    if (this.caughtUpAt === Number.POSITIVE_INFINITY) {
      this.caughtUpAt = (await this.log.bounds()).end;
    }
    this.until = this.isEnded ? LAPSED : until;
  }

  end(): void {
    this.isEnded = true;
    this.until = LAPSED;
  }
}
