import type { Prompt } from '@tessera/prompt';
import { invalid } from '../request/check-source.js';
import type { RecallRequest } from '../request/request-types.js';
import type { CountedCaps } from './count-caps.js';

/** The prompt of a recall. */
export interface RememberedPrompt {
  /** Undefined where the request gave a history. */
  readonly userId: string | undefined;
  /** Digest; '' for the base model. */
  readonly adapter: string;
  readonly prompt: Prompt;
  readonly skippedItems: number;
  readonly trimmedItems: number;
  /** Caps as they were counted for the recall. */
  readonly caps: CountedCaps;
  /** Seed of the drawn places; undefined: no draw. */
  readonly seed: number | undefined;
}

/**
 * The prompts of the newest recalls by their request IDs: behaviours and items change, and a recall
 * can be replayed only as it was asked. The oldest goes when there are too many.
 */
export class RememberedPrompts {
  private readonly prompts = new Map<string, RememberedPrompt>();

  constructor(private readonly capacity: number) {}

  /** Takes the place of an earlier one of the same ID. */
  keep(requestId: string, remembered: RememberedPrompt): void {
    if (this.capacity === 0) return;
    this.prompts.delete(requestId);
    this.prompts.set(requestId, remembered);
    if (this.prompts.size <= this.capacity) return;
    const [oldest] = this.prompts.keys();
    if (oldest !== undefined) this.prompts.delete(oldest);
  }

  forget(userId: string): void {
    for (const [requestId, remembered] of this.prompts) {
      if (remembered.userId === userId) this.prompts.delete(requestId);
    }
  }

  /**
   * Of the recall that is asked about; undefined where it gives its history itself.
   * @throws TesseraError REQUEST_INVALID where it is not remembered, or was another user's
   */
  of({ requestId, userId, history }: RecallRequest, adapter: string): RememberedPrompt | undefined {
    const remembered = this.prompts.get(requestId);
    if (remembered === undefined) {
      if (history !== undefined) return undefined;
      const newest = `one of the newest ${this.capacity} recalls here`;
      throw invalid(
        'requestId',
        `${newest}, or its history in place of the userId`,
        `'${requestId}'`,
      );
    }
    if (userId !== remembered.userId) {
      throw invalid('userId', `'${remembered.userId ?? ''}' of the recall`, `'${userId ?? ''}'`);
    }
    if (adapter !== remembered.adapter) {
      throw invalid('versions.adapter', `'${remembered.adapter}' of the recall`, `'${adapter}'`);
    }
    return remembered;
  }
}
