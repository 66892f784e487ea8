import { type EngineScores, EVERY_ITEM, type LiveItem, type Reach } from '@tessera/engine';
import { inSlices } from '@tessera/turns';
import { factsOf, NOTHING_COMPUTED } from '../answer/answer-facts.js';
import type { RankAnswer, RankedItem } from '../answer/answer-types.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import { checkNotErased, type Prepared, workOf } from '../context/prepared.js';
import { type Placed, Ranker } from '../phases/ranker.js';
import { checkRankRequest } from '../request/check-items.js';
import type { Ranking } from '../request/check-recall.js';
import type { RankRequest } from '../request/request-types.js';

/** Live items of one version. */
interface LiveItems {
  readonly reach: Reach;
  readonly items: readonly LiveItem[];
}

/**
 * Ranks given items for a user: check -> items -> history -> prompt -> engine -> order. Rejects as
 * `recall` does; an item that is not live fails in its place.
 */
export async function rank(
  preparation: Preparation,
  request: RankRequest,
  context: ScopedContext,
): Promise<RankAnswer> {
  const { parts, limits } = preparation;
  const { catalogue } = parts;
  const stopwatch = preparation.begin(context);
  const ranking = checkRankRequest(request, limits);
  const ranker = Ranker.of(request.rank, context, catalogue);
  const reach = await catalogue.reach(EVERY_ITEM);
  const { itemIds } = request;
  const found = { reach, items: catalogue.liveItems(reach, itemIds) };
  const prepared = await preparation.prepare(request, context, stopwatch);
  const left = () => context.budgetUs - stopwatch.totalUs();
  const answer = await answerOf(preparation, { ranker, found, prepared, ranking, left }, context);
  checkNotErased(prepared, parts.erasures);
  const scored = found.items.map(({ itemId }, index) => ({
    itemId,
    score: answer.scores?.[index],
  }));
  const heads = ranker.answers(scored, answer.heads);
  const foundIds = found.items.map(({ itemId }) => itemId);
  const appraised = ranker.appraise(catalogue, reach, foundIds, heads);
  const placed = await ranker.place(scored, heads, appraised);
  const ordered = ranker.order(placed);
  const items = ordered.map(({ item, ranking }, index): RankedItem => {
    return { ...item, rank: index + 1, ranking };
  });
  return {
    items: [...items, ...unranked(itemIds, placed, ordered)],
    ranking: ranker.applied(placed.length, placed.length - ordered.length),
    ...factsOf(parts, prepared, answer),
  };
}

interface Question {
  readonly ranker: Ranker;
  readonly found: LiveItems;
  readonly prepared: Prepared;
  readonly ranking: Ranking;
  /** Microseconds of the budget. */
  readonly left: () => number;
}

/**
 * Heads, and scores where these or the valuation weigh them: requests on one prompt, one behind the
 * other, so that none works on where another is refused.
 */
async function answerOf(
  preparation: Preparation,
  { ranker, found, prepared, ranking, left }: Question,
  { signal }: ScopedContext,
) {
  const { parts, limits } = preparation;
  const { engine } = parts;
  const { reach, items } = found;
  const catalogueSequence = reach.sequence;
  if (items.length === 0) {
    return { ...NOTHING_COMPUTED, heads: new Float32Array(), scores: [], catalogueSequence };
  }
  const { scoreNorm, priority } = ranking;
  const suffixes = ranker.readsTexts
    ? await inSlices(items, (one) => ranker.item.suffixOf(one))
    : undefined;
  const work = workOf(parts, prepared);
  const asked = {
    ...work,
    priority,
    reach,
    items: Uint32Array.from(items, ({ ordinal }) => ordinal),
    ranking: ranker.asEngine(suffixes),
  };
  const ranked = await engine.rank(asked, signal);
  if (!ranker.needsScores) return { ...ranked, scores: undefined };
  // Blocks on their way to the device were the ranking's.
  const { prefetch: _, ...kv } = work.kv;
  const asScored = { ...work, kv, scoreNorm, priority };
  const scores = await scoresOf(
    items.map(({ sid }) => sid),
    limits.scoreItemsMax,
    (sids) => engine.score({ ...asScored, sids, budgetUs: left() }, signal),
  );
  return { ...ranked, scores };
}

/** Scores of more SIDs than one request may have, one part after another. */
async function scoresOf(
  sids: readonly (readonly number[])[],
  most: number,
  score: (part: typeof sids) => Promise<Pick<EngineScores, 'scores'>>,
): Promise<EngineScores['scores']> {
  const scores: (number | undefined)[] = [];
  for (let from = 0; from < sids.length; from += most) {
    scores.push(...(await score(sids.slice(from, from + most))).scores);
  }
  return scores;
}

/** Items without a rank, in the order of the request. */
function unranked<Item extends { readonly itemId: string }>(
  itemIds: readonly string[],
  placed: readonly Placed<Item>[],
  ordered: typeof placed,
): RankedItem[] {
  const left = new Map(placed.map((each) => [each.item.itemId, each]));
  const ranked = new Set(ordered.map(({ item }) => item.itemId));
  return itemIds
    .filter((itemId) => !ranked.has(itemId))
    .map((itemId) => {
      const { item, ranking } = left.get(itemId) ?? {};
      if (item !== undefined) return { ...item, rank: 0, ranking };
      const message = `expected a live item of the catalogue, got '${itemId.slice(0, 80)}'`;
      return { itemId, rank: 0, failure: { code: 'ITEM_NOT_FOUND', message } };
    });
}
