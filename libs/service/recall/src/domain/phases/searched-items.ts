import {
  type EngineAnswer,
  type EngineRequest,
  type Exploration,
  NO_POLICY,
  type Reach,
} from '@tessera/engine';
import type { AppliedExploration, RecalledItem } from '../answer/answer-types.js';
import { workOf } from '../context/prepared.js';
import type { RecallRequest } from '../request/request-types.js';
import { termNames } from '../request/valuations.js';
import { itemValue } from './appraised-items.js';
import type { AskedRecall, FoundItems, Searched } from './phase.js';

/**
 * Items that the engine finds. Rejects as Engine.recall does.
 * @param watchedItem whose fate the search tells: an ordinal of the pinned version
 */
export async function searchedItems(
  asked: AskedRecall,
  watchedItem?: EngineRequest['watchedItem'],
): Promise<FoundItems & { readonly searched: Searched }> {
  const { parts, request, search, ranker, signal } = asked;
  const reach = asked.pinned ?? (await reachOf(asked));
  const work = workOf(parts, asked.prepared);
  const { wantsSight: wantsTree } = request;
  const answer = await parts.engine.recall(
    { ...search, ...work, reach, watchedItem, wantsTree, ranking: ranker?.inRecall },
    signal,
  );
  parts.onPasses?.(answer.passes);
  const terms = request.valuation && termNames(request.valuation, parts.catalogue.valuations);
  const { scoreNorm, priority } = search;
  return {
    ...answer,
    items: recalledItems(answer, terms, search.explore !== undefined),
    itemPolicy: appliedPolicy(asked, answer),
    reach,
    exploration: search.explore && appliedExploration(search.explore, request, answer.propensities),
    searched: { answer, work: { ...work, scoreNorm, priority } },
  };
}

/** True unless the recall takes all live items in their own order, by score. */
function asksForReach({ request, caps, parts: { catalogue } }: AskedRecall): boolean {
  const { eligibility, itemPolicy, valuation } = request;
  const isBound = [eligibility, itemPolicy, valuation].some((member) => member !== undefined);
  return isBound || caps.caps.length > 0 || catalogue.hasFlights;
}

/** Compiled off this thread, before the request waits for the engine. */
async function reachOf(asked: AskedRecall): Promise<Reach | undefined> {
  const isNeeded = asked.ranker?.needsReach === true || asksForReach(asked);
  return isNeeded ? asked.parts.catalogue.reach(asked.reachRequest) : undefined;
}

const appliedPolicy = (
  { request, search }: AskedRecall,
  { itemsPerSid, leftOutByDiversity }: EngineAnswer,
): FoundItems['itemPolicy'] => ({
  ...(request.itemPolicy ?? NO_POLICY),
  itemsPerSid,
  resultCount: search.answerCount,
  leftOutByDiversity,
});

/**
 * A draw, and why its propensities are unknown; '': they are known.
 * @param propensities `popular`: nothing was drawn
 */
export function appliedExploration(
  explore: Exploration,
  { eligibility }: RecallRequest,
  propensities: EngineAnswer['propensities'] | 'popular',
): AppliedExploration {
  // Propensities are those among all items: unknown where only a part of them could be drawn.
  const known = eligibility?.drawn === undefined ? '' : 'part';
  return { ...explore, noPropensities: propensities === 'known' ? known : propensities };
}

/**
 * The items of an answer, best first.
 * @param terms their names; undefined: it goes by score
 * @param explores places of it were drawn
 */
export function recalledItems(
  { items, paths, itemTerms }: EngineAnswer,
  terms: readonly string[] | undefined,
  explores: boolean,
): RecalledItem[] {
  const drawn = ({ explored, propensity }: (typeof items)[number]) =>
    Number.isNaN(propensity) ? { explored } : { explored, propensity };
  return items.map((item, index) => {
    const { itemId, title, attributes, score, path } = item;
    const sid = paths[path]?.sid ?? [];
    const found = { itemId, sid, score, rank: index + 1, title, attributes };
    if (terms === undefined) return explores ? Object.assign(found, drawn(item)) : found;
    const own = itemTerms.subarray(index * terms.length, (index + 1) * terms.length);
    const value = itemValue(terms, own, item);
    return Object.assign(found, { value }, explores && drawn(item));
  });
}
