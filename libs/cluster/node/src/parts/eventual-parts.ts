import type { BehaviourLog } from '@tessera/behaviour';
import { markOf } from '@tessera/contracts';
import type { RecallServing } from '@tessera/recall';
import { startOf } from '../domain/position.js';
import type { EventualPart, EventualParts } from '../erasures.js';

const nothing = (name: string): EventualPart => ({ name, erase: async () => ({}) });

/** Behaviours in a store that nodes share are erased by the first node that asks for an entry. */
function behavioursPart(
  behaviours: Pick<BehaviourLog, 'erase'> | undefined,
  log: string,
): EventualPart {
  if (behaviours === undefined) return nothing('behaviours');
  // A store of this process's own remembers one position; its erasures come in any order.
  const isOwn = 'noteMark' in behaviours;
  return {
    name: 'behaviours',
    erase: async ({ userId, atMs, offset }) => {
      const mark = isOwn ? '' : markOf({ ...startOf(log), offset });
      return { known: await behaviours.erase(userId, atMs, mark) };
    },
  };
}

export interface EventualStores {
  readonly log: string;
  /** Undefined: behaviours are kept by another process. */
  readonly behaviours: Pick<BehaviourLog, 'erase'> | undefined;
  /** Number of recorded recalls that went; undefined: none are recorded here. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  /** Undefined: this process has no engine. */
  readonly serving: Pick<RecallServing, 'forgetUser'> | undefined;
  /** Milliseconds that the pool may take. */
  readonly budgetMs: number;
}

export function eventualParts(stores: EventualStores): EventualParts {
  const { log, behaviours, eraseRecalls, serving, budgetMs } = stores;
  return {
    behaviours: behavioursPart(behaviours, log),
    records:
      eraseRecalls === undefined
        ? nothing('records')
        : {
            name: 'records',
            erase: async ({ userId }) => ({ recalls: await eraseRecalls(userId) }),
          },
    pool:
      serving === undefined
        ? nothing('pool')
        : {
            name: 'pool',
            erase: async ({ userId, offset }) => {
              await serving.forgetUser(userId, budgetMs, offset);
              return {};
            },
          },
  };
}
