import type { BehaviourLog } from '@tessera/behaviour';
import { markOf } from '@tessera/contracts';
import { startOf } from '../domain/position.js';
import type { EventualPart, EventualParts } from '../erasures.js';

const nothing = (name: string): EventualPart => ({ name, erase: async () => ({}) });

/** Behaviours in a store that nodes share are erased by the first node that asks for an entry. */
function behavioursPart(
  behaviours: Pick<BehaviourLog, 'erase'> | undefined,
  log: string | undefined,
): EventualPart {
  if (behaviours === undefined) return nothing('behaviours');
  // A store of this process's own remembers one position; its erasures come in any order.
  const isOwn = 'noteMark' in behaviours;
  return {
    name: 'behaviours',
    erase: async ({ userId, atMs, offset }) => {
      const mark = isOwn || log === undefined ? '' : markOf({ ...startOf(log), offset });
      return { known: await behaviours.erase(userId, atMs, mark) };
    },
  };
}

export interface EventualStores {
  /** Left out: the process follows none. */
  readonly log?: string;
  /** Undefined: behaviours are kept by another process. */
  readonly behaviours: Pick<BehaviourLog, 'erase'> | undefined;
  /** Number of recorded recalls that went; undefined: none are recorded here. */
  readonly eraseRecalls: ((userId: string) => Promise<number>) | undefined;
  /** Prompts, keys and values go; undefined: this process knows of none. */
  readonly forget: ((userId: string, offset: number) => Promise<void>) | undefined;
}

export function eventualParts(stores: EventualStores): EventualParts {
  const { log, behaviours, eraseRecalls, forget } = stores;
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
      forget === undefined
        ? nothing('pool')
        : {
            name: 'pool',
            erase: async ({ userId, offset }) => {
              await forget(userId, offset);
              return {};
            },
          },
  };
}
