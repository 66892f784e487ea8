/**
 * Behaviours that count towards frequency caps. They are counted by item here; the engine adds up
 * those of items with a shared text, by the version that it searches.
 */

import type { Behaviour } from '@tessera/behaviour';
import type { CountedCap } from '@tessera/engine';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { CapsOutcome } from '../answer/answer-types.js';
import { ALL_ACTIONS, type CountableBehaviours } from '../request/frequency-caps.js';
import type { FrequencyCap, RecallRequest } from '../request/request-types.js';
import type { RecallParts } from './recall-parts.js';
import type { ResolvedHistory } from './resolve-history.js';
import type { SeenActions } from './seen-actions.js';

export interface CountedCaps {
  readonly caps: readonly CountedCap[];
  /** Undefined where the recall has no caps. */
  readonly outcome: CapsOutcome | undefined;
  /** Caps, as `path: action`, of an action that this process has read no behaviour of. */
  readonly unseenActions: readonly string[];
}

const NO_CAPS: CountedCaps = { caps: [], outcome: undefined, unseenActions: [] };

/**
 * The behaviours with each item that count towards each cap. Items of a cap of items alone are
 * those that are full; of an attribute, none where they could not fill a text together.
 * @param path of the list, which explanations name
 * @param behaviours oldest first
 * @param nowMs milliseconds since 1970; what is to come counts as what is now
 */
export function countCaps(
  caps: readonly FrequencyCap[],
  path: string,
  behaviours: readonly Behaviour[],
  nowMs: number,
): CountedCap[] {
  return caps.map(({ action, attribute, maxBehaviours, windowSeconds }, index) => {
    const counts = new Map<string, number>();
    let total = 0;
    for (let at = behaviours.length - 1; at >= 0; at -= 1) {
      const behaviour = behaviours[at] as Behaviour;
      if (!isWithin(behaviour, windowSeconds, nowMs)) break;
      if (action !== ALL_ACTIONS && behaviour.action !== action) continue;
      counts.set(behaviour.itemId, (counts.get(behaviour.itemId) ?? 0) + 1);
      total += 1;
    }
    const least = attribute === '' ? maxBehaviours : 1;
    const found = total < maxBehaviours ? [] : [...counts].filter(([, count]) => count >= least);
    return {
      path: `${path}[${index}]`,
      attribute,
      maxBehaviours,
      itemIds: found.map(([itemId]) => itemId),
      behaviours: Uint32Array.from(found, ([, count]) => count),
    };
  });
}

/**
 * True if behaviours may be missing in the window of a cap: as many were read as may be, or as are
 * kept, and the oldest of them lies within it.
 */
export function areCut(
  caps: readonly FrequencyCap[],
  { historyItemsMax, retention }: CountableBehaviours,
  behaviours: readonly Behaviour[],
  nowMs: number,
): boolean {
  return caps.some(({ action, windowSeconds }) => {
    const mayBeMissing = (found: readonly Behaviour[], most: number) => {
      const [oldest] = found;
      return found.length >= most && oldest !== undefined && isWithin(oldest, windowSeconds, nowMs);
    };
    if (mayBeMissing(behaviours, historyItemsMax)) return true;
    return (retention?.windows ?? []).some(({ behavioursMax }, window) => {
      if (behaviours.length < behavioursMax) return false;
      if (action !== ALL_ACTIONS && retention?.windowOf(action) !== window) return false;
      const own = behaviours.filter((each) => retention?.windowOf(each.action) === window);
      return mayBeMissing(own, behavioursMax);
    });
  });
}

function isWithin({ time }: Behaviour, windowSeconds: number, nowMs: number): boolean {
  const timeMs = Math.round(time * MILLISECONDS_PER_SECOND);
  return nowMs - timeMs < windowSeconds * MILLISECONDS_PER_SECOND;
}

/** Origin of the counts of a recall's caps. */
interface CapSource {
  /** Caps of a replayed recall, as they were counted for it. */
  readonly caps?: CountedCaps;
  readonly history: ResolvedHistory | undefined;
}

/**
 * The caps of a recall, its own or those that are configured, with the behaviours that count: read
 * with the history, or as they were counted for the recall that is replayed.
 */
export function countedCaps(
  request: RecallRequest,
  { caps: counted, history }: CapSource,
  { defaults, behaviours: { retention }, nowMs = Date.now }: RecallParts,
  seenActions: SeenActions,
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
    unseenActions: isAway ? [] : seenActions.unseen(caps, path, behaviours),
  };
}
