import { type EngineAnswer, type EngineRequest, NO_POLICY, type Reach } from '@tessera/engine';
import { recalledItems } from './item-scores.js';
import type { AskedRecall, FoundItems, Searched } from './phase.js';
import { workOf } from './preparation.js';
import type { RecallRequest } from './recall-types.js';
import { termNames } from './value.js';

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
    noPropensities: noPropensities(request, answer),
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

/** Propensities among all items are unknown where only a part of them could be drawn. */
function noPropensities(
  { eligibility }: RecallRequest,
  { propensities }: EngineAnswer,
): FoundItems['noPropensities'] {
  if (propensities !== 'known') return propensities;
  return eligibility?.drawn === undefined ? '' : 'part';
}
