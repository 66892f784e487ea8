import type { BehaviourLog } from '@tessera/behaviour';
import type { PendingErasure, PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';
import type { KvFollower } from './kv-follower.js';

export interface ErasureParts {
  readonly behaviours: Pick<BehaviourLog, 'erase'>;
  readonly follower: Pick<KvFollower, 'erase'>;
  /** Number of recorded recalls that went; left out: none are recorded here. */
  readonly eraseRecalls?: ((userId: string) => Promise<number>) | undefined;
  readonly pending: PendingErasures;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface Erased {
  /** Behaviours or a profile were there. */
  readonly known: boolean;
  /** Recorded recalls that went. */
  readonly recalls: number;
}

/** Milliseconds after which what could not be finished is tried again. */
const RETRY_MS = 10_000;

/**
 * Behaviours, profile, prompts, keys and values, recorded recalls, here and in the other processes:
 * nothing is left of a user when it resolves, and nothing comes back behind it. A store that
 * cannot be reached is named in the refusal; its part stays pending over restarts and is retried.
 */
export class UserErasure {
  private readonly running = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private retrying: Promise<void> | undefined;

  constructor(private readonly parts: ErasureParts) {
    this.timer = setInterval(() => void this.retry(), RETRY_MS);
    this.timer.unref();
  }

  /** How many do not hold everywhere, of those that nobody waits for. */
  get pendingCount(): number {
    return this.parts.pending.list().filter(({ userId }) => !this.running.has(userId)).length;
  }

  /** Rejects with STORE_UNAVAILABLE naming what could not be reached; may be repeated. */
  async erase(userId: string): Promise<Erased> {
    const { pending, nowMs } = this.parts;
    const erasure: PendingErasure = {
      userId,
      atMs: nowMs(),
      offset: 0,
      withBehaviours: true,
      withRecords: true,
      withPool: true,
    };
    await pending.put(erasure);
    return this.finish(erasure);
  }

  /** Tries to finish what is pending, one after the other; never rejects. */
  retry(): Promise<void> {
    this.retrying ??= this.retryAll().finally(() => {
      this.retrying = undefined;
    });
    return this.retrying;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.retrying;
  }

  private async retryAll(): Promise<void> {
    const { pending, log } = this.parts;
    for (const erasure of pending.list()) {
      if (this.running.has(erasure.userId)) continue;
      try {
        await this.finish(erasure);
        log.info({}, 'an erasure that was pending holds everywhere');
      } catch (thrown) {
        log.warn({ err: thrown }, 'an erasure is still pending');
      }
    }
  }

  /** Behaviours go first, since the rest is made from them and would otherwise come back. */
  private async finish(erasure: PendingErasure): Promise<Erased> {
    const { behaviours, pending } = this.parts;
    const { userId, atMs, withBehaviours } = erasure;
    this.running.add(userId);
    try {
      let known = false;
      if (withBehaviours) {
        known = await behaviours.erase(userId, atMs);
        // Again would take away what the user has done since.
        await pending.put(Object.assign({}, erasure, { withBehaviours: false }));
      }
      const recalls = await this.spread(userId);
      await pending.remove(erasure);
      return { known, recalls };
    } finally {
      this.running.delete(userId);
    }
  }

  /** Everything is tried, whatever fails. */
  private async spread(userId: string): Promise<number> {
    const { follower, eraseRecalls } = this.parts;
    const failures: TesseraError[] = [];
    const attempt = async <Answer>(act: () => Promise<Answer>) =>
      act().catch((thrown: unknown) => {
        failures.push(TesseraError.from(thrown));
        return undefined;
      });
    await attempt(() => follower.erase(userId));
    const recalls = await attempt(async () => (await eraseRecalls?.(userId)) ?? 0);
    const [first] = failures;
    if (first === undefined) return recalls ?? 0;
    const reasons = failures.map(({ message }) => message).join('; ');
    const message = `erasure: expected it to hold everywhere, got: ${reasons}; it is tried again`;
    throw new TesseraError('STORE_UNAVAILABLE', message, { cause: first });
  }
}
