import type { PendingErasure, PendingErasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';

export interface ErasureParts {
  readonly pending: PendingErasures;
  /** All that may hold something of a user, also those that are away. */
  readonly holders: () => readonly string[];
  /** Behaviours and all that is made of them, in the store that the nodes share. */
  readonly eraseBehaviours: (userId: string, deadlineMs: number) => Promise<void>;
  /** Keys, values and recorded recalls of one holder. Rejects where it did not confirm. */
  readonly drop: (holder: string, userId: string, deadlineMs: number) => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly nowMs: () => number;
}

const RETRY_EVERY_MS = 2000;
const RETRY_DEADLINE_MS = 5000;

/**
 * Erasures until every holder has confirmed: written down before anything is asked, tried again
 * while one is away, over restarts too. Who has confirmed is remembered in memory alone: after a
 * restart they are asked once more, which costs them keys and values and no truth.
 */
export class KeptErasures {
  private readonly confirmed = new Map<string, Set<string>>();
  private readonly running = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private retrying: Promise<void> | undefined;

  constructor(private readonly parts: ErasureParts) {}

  start(): void {
    this.timer = setInterval(() => void this.retry(), RETRY_EVERY_MS);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.retrying;
  }

  get pendingCount(): number {
    return this.parts.pending.list().length;
  }

  /**
   * `isSpreading`: the behaviours are gone already. `erase`: erases them; left out: as a retry
   * does. Rejects with STORE_UNAVAILABLE naming the holders that are asked again.
   */
  async forget(
    userId: string,
    isSpreading: boolean,
    deadlineMs: number,
    erase?: () => Promise<void>,
  ): Promise<void> {
    const { pending, nowMs } = this.parts;
    const erasure = { userId, askedMs: nowMs(), isSpreading };
    // A holder that has confirmed an earlier one may hold what was added since.
    this.confirmed.delete(userId);
    await pending.put(erasure);
    await this.finish(erasure, deadlineMs, erase);
  }

  /** Never rejects. */
  retry(): Promise<void> {
    this.retrying ??= this.retryAll().finally(() => {
      this.retrying = undefined;
    });
    return this.retrying;
  }

  private async retryAll(): Promise<void> {
    const { pending, log } = this.parts;
    for (const erasure of pending.list()) {
      if (this.running.has(erasure.userId)) continue;
      const isDone = await this.finish(erasure, RETRY_DEADLINE_MS).then(
        () => true,
        () => false,
      );
      if (isDone) log.info({}, 'an erasure that was pending holds everywhere');
    }
  }

  private async finish(
    erasure: PendingErasure,
    deadlineMs: number,
    erase?: () => Promise<void>,
  ): Promise<void> {
    const { pending, holders, drop, eraseBehaviours } = this.parts;
    const { userId } = erasure;
    this.running.add(userId);
    try {
      if (!erasure.isSpreading) {
        await (erase?.() ?? eraseBehaviours(userId, deadlineMs));
        // Again would take away what the user has done since.
        await pending.put({ ...erasure, isSpreading: true });
      }
      const confirmed = this.confirmed.get(userId) ?? new Set<string>();
      this.confirmed.set(userId, confirmed);
      const left = holders().filter((holder) => !confirmed.has(holder));
      const failures: string[] = [];
      await Promise.all(
        left.map((holder) =>
          drop(holder, userId, deadlineMs).then(
            () => void confirmed.add(holder),
            (thrown: unknown) => void failures.push(`${holder}: ${(thrown as Error).message}`),
          ),
        ),
      );
      if (failures.length > 0) {
        const message = `erasure: expected it to hold on every node, got: ${failures.join('; ')}`;
        throw new TesseraError('STORE_UNAVAILABLE', `${message}; it is tried again`);
      }
      await pending.remove(erasure);
      this.confirmed.delete(userId);
    } finally {
      this.running.delete(userId);
    }
  }
}
