import type { Popularity } from '@tessera/behaviour';
import type { ListedItem, Reach } from '@tessera/engine';
import { factsOf, NOTHING_COMPUTED, requestIdOf } from './answer-facts.js';
import type { SearchSettings } from './check-request.js';
import { NO_POLICY } from './item-policy.js';
import type { Prepared } from './prepared.js';
import type { RecallParts } from './recall-parts.js';
import type { ItemPolicy, RecallAnswer, RecalledItem, RecallRequest } from './recall-types.js';
import { sightOf } from './sight.js';

/** The most popular items that are looked through for those that a request may get. */
const CANDIDATES_MAX = 4096;

/**
 * The most popular items that the request may get, of one version, under its caps: for users
 * without history, where `recall.withoutHistory` says so. The engine is not asked.
 */
export function popularAnswer(
  parts: RecallParts,
  popularity: Popularity,
  asked: { readonly request: RecallRequest; readonly search: SearchSettings },
  prepared: Prepared,
  reach: Reach,
): RecallAnswer {
  const { request, search } = asked;
  const { itemPolicy: policy = NO_POLICY } = request;
  const candidates = popularity.order().slice(0, CANDIDATES_MAX);
  const isCapped = policy.diversity.length > 0 || search.itemsPerSid > 0;
  const wanted = isCapped ? CANDIDATES_MAX : search.resultCount;
  const obtainable = parts.catalogue.firstObtainable(reach, candidates, wanted);
  const { kept, leftOutByDiversity } = withinCaps(obtainable, policy, search);
  const items = kept.map((item, index): RecalledItem => {
    const { itemId, sid, title } = item;
    const score = Math.log(popularity.shareOf(itemId));
    const attributes = membersOf(item, search.attributes);
    return { itemId, sid, score, rank: index + 1, title, attributes };
  });
  const nothing = { ...NOTHING_COMPUTED, catalogueSequence: reach.sequence };
  const { prompt, history } = prepared;
  const sight = request.wantsSight && sightOf(history, prompt, { tree: undefined });
  return {
    requestId: requestIdOf(request),
    items,
    short: items.length < search.resultCount,
    widthsUsed: [],
    completeness: 'whole',
    itemPolicy: {
      orderBy: '',
      diversity: policy.diversity,
      itemsPerSid: search.itemsPerSid,
      resultCount: search.resultCount,
      leftOutByDiversity,
    },
    ...factsOf(parts, prepared, nothing),
    ...(sight && { sight }),
  };
}

/** As an export of found paths has them: docs/items-of-a-sid.md. */
function withinCaps(
  items: readonly ListedItem[],
  { diversity }: ItemPolicy,
  { itemsPerSid, resultCount }: SearchSettings,
) {
  const taken = new Map<string, number>();
  const kept: ListedItem[] = [];
  let leftOutByDiversity = 0;
  for (const item of items) {
    if (kept.length === resultCount) break;
    const sid = `sid ${item.sid.join()}`;
    if (itemsPerSid > 0 && (taken.get(sid) ?? 0) >= itemsPerSid) continue;
    const attributes = JSON.parse(item.attributes) as Record<string, unknown>;
    const counted = diversity.flatMap(({ attribute, maxItems }) => {
      const value = attributes[attribute];
      const isText = typeof value === 'string' || typeof value === 'boolean';
      return isText ? [{ key: JSON.stringify([attribute, String(value)]), maxItems }] : [];
    });
    if (counted.some(({ key, maxItems }) => (taken.get(key) ?? 0) >= maxItems)) {
      leftOutByDiversity += 1;
      continue;
    }
    for (const key of [sid, ...counted.map((each) => each.key)]) {
      taken.set(key, (taken.get(key) ?? 0) + 1);
    }
    kept.push(item);
  }
  return { kept, leftOutByDiversity };
}

/** Text of a JSON object; '' where no attribute is asked for. */
function membersOf({ attributes }: ListedItem, names: readonly string[]): string {
  if (names.length === 0) return '';
  const all = JSON.parse(attributes) as Record<string, unknown>;
  const own = names.filter((name) => Object.hasOwn(all, name));
  return JSON.stringify(Object.fromEntries(own.map((name) => [name, all[name]])));
}
