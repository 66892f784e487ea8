import { TesseraError } from '@tessera/errors';
import type { Log, Metrics } from '@tessera/telemetry';
import type { FollowedPools } from './followed-pools.js';

/**
 * Users that wait for their keys and values at most; further ones are computed at their next visit.
 */
const FOLLOWED_USERS_MAX = 1000;

export interface KvFollowerParts {
  readonly pools: FollowedPools;
  readonly metrics: Pick<Metrics, 'countFollowed'>;
  readonly log: Log;
  /** Milliseconds that an append or an erasure may take. */
  readonly budgetMs: number;
}

/**
 * Lets the KV pool follow the behaviours: a user whom the pool holds gets the keys and values of
 * what is new before the next visit, one user at a time and behind every recall. Losing one of
 * these costs a visit its time and nothing else, so what does not fit is dropped and counted.
 */
export class KvFollower {
  private readonly waiting = new Set<string>();
  private isRunning = false;

  constructor(private readonly parts: KvFollowerParts) {}

  /** Users whose behaviours are stored now. */
  follow(userIds: Iterable<string>): void {
    for (const userId of new Set(userIds)) {
      if (!this.parts.pools.mayHold(userId)) continue;
      if (this.waiting.size < FOLLOWED_USERS_MAX) this.waiting.add(userId);
      else this.parts.metrics.countFollowed('dropped');
    }
    if (!this.isRunning) void this.run();
  }

  /** Forgets the keys and values of a user in every tier. */
  async erase(userId: string): Promise<void> {
    this.waiting.delete(userId);
    await this.parts.pools.erase(userId, this.parts.budgetMs);
  }

  /** Between the last user and the end nothing is awaited: who is added then begins a new run. */
  private async run(): Promise<void> {
    this.isRunning = true;
    for (const userId of this.waiting) {
      this.waiting.delete(userId);
      await this.appendFor(userId);
    }
    this.isRunning = false;
  }

  private async appendFor(userId: string): Promise<void> {
    const { pools, metrics, log, budgetMs } = this.parts;
    try {
      await pools.append(userId, budgetMs);
      metrics.countFollowed('appended');
    } catch (thrown) {
      const { code } = TesseraError.from(thrown);
      metrics.countFollowed('failed');
      log.debug({ code }, 'the KV pool could not follow a user');
    }
  }
}
