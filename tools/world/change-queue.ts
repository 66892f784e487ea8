import { TesseraError } from '@tessera/errors';
import type { WorldChange, WorldService } from './world-service.js';

const BATCH_MAX = 500;
/** While a service is away; more are lost and counted. */
const CHANGES_MAX = 10_000;

/** Changes of the catalogue that wait for the service, in their order. */
export class ChangeQueue {
  private readonly waiting: WorldChange[] = [];

  add(changes: readonly WorldChange[]): void {
    this.waiting.push(...changes);
  }

  /** A service refuses batches whole: the change at fault is found by halves, and lost alone. */
  async applyTo(service: WorldService): Promise<{ refused: number; dropped: number }> {
    const dropped = this.waiting.splice(CHANGES_MAX).length;
    let refused = 0;
    let most = BATCH_MAX;
    while (this.waiting.length > 0) {
      const batch = this.firstBatch(most);
      try {
        await service.apply(batch);
        most = Math.min(BATCH_MAX, 2 * most);
      } catch (thrown) {
        if (TesseraError.from(thrown).retryable) break;
        most = Math.ceil(batch.length / 2);
        if (batch.length > 1) continue;
        refused += 1;
      }
      this.waiting.splice(0, batch.length);
    }
    return { refused, dropped };
  }

  /** As many as one call takes: each item is named once. */
  private firstBatch(most: number): WorldChange[] {
    const named = new Set<string>();
    const again = this.waiting.findIndex(({ itemId }) => named.size === named.add(itemId).size);
    return this.waiting.slice(0, Math.min(again < 0 ? this.waiting.length : again, most));
  }
}
