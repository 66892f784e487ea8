import type { Popularity } from '@tessera/behaviour';
import { type Catalogue, type ListedItem, NO_POLICY, type Reach } from '@tessera/engine';
import { NOTHING_COMPUTED } from '../answer/answer-facts.js';
import type { ItemValue, RecalledItem } from '../answer/answer-types.js';
import { AppraisedItems } from './appraised-items.js';
import { CapCount, type CapRefusal } from './cap-count.js';
import type { AskedRecall, FoundItems } from './phase.js';
import { appliedExploration } from './searched-items.js';

/** The most popular items that are looked through for those that a request may get. */
const CANDIDATES_MAX = 4096;

/** The fate of an item among the popular ones. */
export interface PopularFate {
  readonly verdict: 'returned' | 'behind-results' | 'below-floor' | CapRefusal['verdict'];
  readonly attribute?: string;
  readonly rank?: number;
  /** Left out where the item is not popular. */
  readonly score?: number;
  readonly value?: ItemValue | undefined;
}

/**
 * The most popular items that a request may get, of one version, under the caps of the request, by
 * value where it has a valuation; undefined where the user has a history, or where
 * `recall.withoutHistory` does not say so.
 * @param watched item whose fate is told
 */
export async function popularItems(
  asked: AskedRecall,
  watched?: string,
): Promise<(FoundItems & { readonly fate: PopularFate }) | undefined> {
  const { parts, request, search, prepared } = asked;
  const { popularity, catalogue } = parts;
  if (popularity === undefined || prepared.history?.fallback !== 'popular') return undefined;
  const reach = asked.pinned ?? (await catalogue.reach(asked.reachRequest));
  const { items, leftOut, fate } = obtainable(asked, popularity, reach, watched);
  const { answerCount: resultCount, itemsPerSid, explore } = search;
  const { diversity } = request.itemPolicy ?? NO_POLICY;
  return {
    ...NOTHING_COMPUTED,
    fate,
    items: explore === undefined ? items : items.map((item) => ({ explored: false, ...item })),
    itemPolicy: {
      ...NO_POLICY,
      diversity,
      itemsPerSid,
      resultCount,
      leftOutByDiversity: leftOut,
    },
    catalogueSequence: reach.sequence,
    reach,
    certified: false,
    gap: Number.NaN,
    rows: 0,
    widthsUsed: [],
    completeness: 'whole',
    bestLeftOut: Number.NaN,
    bestLeftOutId: '',
    bestLeftOutBid: Number.NaN,
    prices: 'popular',
    exploration: explore && appliedExploration(explore, request, 'popular'),
    searched: undefined,
  };
}

function obtainable(
  { parts: { catalogue }, request, search }: AskedRecall,
  popularity: Popularity,
  reach: Reach,
  watched: string | undefined,
) {
  const { itemPolicy = NO_POLICY } = request;
  const { attributes, itemsPerSid, answerCount: resultCount } = search;
  const candidates = popularity.order().slice(0, CANDIDATES_MAX);
  const caps = new CapCount(itemPolicy, itemsPerSid);
  const isValued = request.valuation !== undefined;
  const isShort = caps.isEmpty && !isValued && watched === undefined;
  const found = catalogue
    .firstObtainable(reach, candidates, isShort ? resultCount : CANDIDATES_MAX)
    .map((item): Candidate => ({ item, score: Math.log(popularity.shareOf(item.itemId)) }));
  const items: RecalledItem[] = [];
  let fate: PopularFate = { verdict: 'behind-results' };
  for (const candidate of isValued ? byValue(catalogue, reach, found) : found) {
    const isFull = items.length === resultCount;
    if (isFull && watched === undefined) break;
    const { item, score, value } = candidate;
    const { itemId, sid, title } = item;
    const rank = items.length + 1;
    const own = fateOf(candidate, caps, isFull ? undefined : rank);
    if (itemId === watched) fate = { ...own, score, value };
    if (own.verdict !== 'returned') continue;
    const recalled = { itemId, sid, score, rank, title };
    const members = { attributes: membersOf(item, attributes), ...(value && { value }) };
    items.push(Object.assign(recalled, members));
  }
  return { items, leftOut: caps.leftOut, fate };
}

/** @param rank next one of the answer; undefined: it is full */
function fateOf(
  { item, isBelowFloor }: Candidate,
  caps: CapCount,
  rank: number | undefined,
): PopularFate {
  if (isBelowFloor === true) return { verdict: 'below-floor' };
  if (rank === undefined) return { verdict: 'behind-results' };
  return caps.refusal(item) ?? { verdict: 'returned', rank };
}

interface Candidate {
  readonly item: ListedItem;
  /** Logarithm of its share of what users did. */
  readonly score: number;
  readonly value?: ItemValue;
  readonly isBelowFloor?: boolean;
}

/** Items that the valuation does not exclude, best first; ties stay as they were. */
function byValue(
  catalogue: Catalogue,
  reach: Reach,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const itemIds = candidates.map(({ item }) => item.itemId);
  const appraised = new AppraisedItems(catalogue.appraise(reach, itemIds), itemIds);
  const valued = candidates.flatMap(({ item, score }) => {
    const value = appraised.valueOf(item.itemId, score);
    return value === undefined
      ? []
      : [{ item, score, value, isBelowFloor: !appraised.passes(value) }];
  });
  return valued.sort((a, b) => b.value.value - a.value.value);
}

/** Text of a JSON object; '' where no attribute is asked for. */
function membersOf(item: ListedItem, names: readonly string[]): string {
  if (names.length === 0) return '';
  const all = JSON.parse(item.attributes) as Record<string, unknown>;
  const own = names.filter((name) => Object.hasOwn(all, name));
  return JSON.stringify(Object.fromEntries(own.map((name) => [name, all[name]])));
}
