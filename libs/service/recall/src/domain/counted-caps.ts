import { areCut, type CountedCaps, countCaps, NO_CAPS } from './frequency-caps.js';
import type { Prepared } from './prepared.js';
import type { RecallParts } from './recall-parts.js';
import type { RecallRequest } from './recall-types.js';

/**
 * The caps of a recall, its own or those that are configured, with the behaviours that count: read
 * with the history, or as they were counted for the recall that is replayed.
 */
export function countedCaps(
  request: RecallRequest,
  { caps: counted, history }: Prepared,
  { defaults, behaviours: { retention }, nowMs = Date.now }: RecallParts,
): CountedCaps {
  if (counted !== undefined) return counted;
  const { frequencyCaps: own = [], userId } = request;
  const isOwn = own.length > 0;
  const caps = isOwn || userId === undefined ? own : (defaults.frequencyCaps ?? []);
  if (caps.length === 0) return NO_CAPS;
  const path = isOwn ? 'frequencyCaps' : 'recall.frequencyCaps';
  const now = nowMs();
  const { behaviours = [] } = history ?? {};
  const all = countCaps(caps, path, behaviours, now);
  const { historyItemsMax } = defaults;
  const isCut = areCut(caps, { historyItemsMax, retention }, behaviours, now);
  const isAway = history?.behaviours === undefined;
  return {
    // The engine checks the attribute that a request names, whatever has been counted.
    caps: all.filter(({ itemIds, attribute }) => itemIds.length > 0 || (isOwn && attribute !== '')),
    outcome: isAway ? 'unavailable' : isCut ? 'cut' : 'exact',
  };
}
