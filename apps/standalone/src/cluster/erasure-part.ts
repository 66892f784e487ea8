import type { BehaviourLog } from '@tessera/behaviour';
import { ERASE, type Erasure, type StatePart } from '@tessera/log';
import type { RecallServing } from '@tessera/recall';
import type { Erased } from '../../../feature/src/index.js';

export interface ErasureParts {
  /** Undefined: behaviours are kept by another process. */
  readonly behaviours: Pick<BehaviourLog, 'erase'> | undefined;
  readonly serving: Pick<RecallServing, 'forgetUser'>;
  /** Number of recorded recalls that went; undefined: none are recorded here. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  /** Milliseconds that the pool may take. */
  readonly budgetMs: number;
}

/**
 * All that is kept of a user on this node. Behaviours go first: the rest is made of them. A user
 * who was erased may come back, so that nothing of this is compared: the log counts who went.
 */
export function erasurePart(parts: ErasureParts): StatePart {
  const { behaviours, serving, eraseRecalls, budgetMs } = parts;
  return {
    name: 'erasures',
    kinds: [ERASE],
    apply: async ({ body }, { atMs, offset }, mark) => {
      const { userId, withBehaviours, withRecords } = body as Erasure;
      const known = withBehaviours && ((await behaviours?.erase(userId, atMs, mark)) ?? false);
      await serving.forgetUser(userId, budgetMs, offset);
      const recalls = withRecords ? ((await eraseRecalls?.(userId)) ?? 0) : 0;
      const value: Erased = { known, recalls };
      return { value, isMarked: false };
    },
    digest: async () => '',
  };
}
