import type { EngineAnswer } from '@tessera/engine';
import type { RecallSight } from './recall-types.js';
import type { ResolvedHistory } from './resolve-history.js';

/** What is recorded of a recall; an earlier prompt that is replayed has no history. */
export function sightOf(history: ResolvedHistory | undefined, { tree }: EngineAnswer): RecallSight {
  const { items = [], itemIds = [], profile = {} } = history ?? {};
  const seen = items.map(({ sid, action, time }, index) => {
    return { itemId: itemIds[index] ?? '', sid, action, time };
  });
  return { history: seen, profile, tree };
}
