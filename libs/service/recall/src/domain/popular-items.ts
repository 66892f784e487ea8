import type { Popularity } from '@tessera/behaviour';
import { type Catalogue, type ListedItem, NO_POLICY, type Reach } from '@tessera/engine';
import type { SearchSettings } from './check-request.js';
import { CapCount } from './reach-request.js';
import type { RecalledItem, RecallRequest } from './recall-types.js';

/** The most popular items that are looked through for those that a request may get. */
const CANDIDATES_MAX = 4096;

/**
 * The most popular items that a request may get, of the version of the reach, under the caps of the
 * request: for users without history, where `recall.withoutHistory` says so.
 */
export function popularItems(
  catalogue: Catalogue,
  popularity: Popularity,
  asked: { readonly request: RecallRequest; readonly search: SearchSettings },
  reach: Reach,
): { readonly items: readonly RecalledItem[]; readonly leftOut: number } {
  const { itemPolicy = NO_POLICY } = asked.request;
  const { attributes, itemsPerSid, resultCount } = asked.search;
  const candidates = popularity.order().slice(0, CANDIDATES_MAX);
  const caps = new CapCount(itemPolicy, itemsPerSid);
  const wanted = caps.isEmpty ? resultCount : CANDIDATES_MAX;
  const items: RecalledItem[] = [];
  for (const item of catalogue.firstObtainable(reach, candidates, wanted)) {
    if (items.length === resultCount) break;
    if (!caps.take(item)) continue;
    const { itemId, sid, title } = item;
    const score = Math.log(popularity.shareOf(itemId));
    const rank = items.length + 1;
    items.push({ itemId, sid, score, rank, title, attributes: membersOf(item, attributes) });
  }
  return { items, leftOut: caps.leftOut };
}

/** Text of a JSON object; '' where no attribute is asked for. */
function membersOf(item: ListedItem, names: readonly string[]): string {
  if (names.length === 0) return '';
  const all = JSON.parse(item.attributes) as Record<string, unknown>;
  const own = names.filter((name) => Object.hasOwn(all, name));
  return JSON.stringify(Object.fromEntries(own.map((name) => [name, all[name]])));
}
