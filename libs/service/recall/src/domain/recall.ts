import type { Popularity } from '@tessera/behaviour';
import {
  type Catalogue,
  type EngineAnswer,
  NO_POLICY,
  type Reach,
  type ReachRequest,
} from '@tessera/engine';
import type { Cancellation } from '@tessera/errors';
import { factsOf, NOTHING_COMPUTED, requestIdOf } from './answer-facts.js';
import { checkRequest, type SearchSettings } from './check-request.js';
import { appliedExploration, undrawn } from './exploration.js';
import type { CountedCaps } from './frequency-caps.js';
import { recalledItems } from './item-scores.js';
import { popularItems } from './popular-items.js';
import type { Preparation, ScopedContext } from './preparation.js';
import { checkNotErased, countedCaps, type Prepared } from './preparation.js';
import { type AskedWork, answeredItems, headsOf, placedItems } from './ranked-items.js';
import { Ranker } from './ranking.js';
import { asksForReach, reachRequestOf, withCaps } from './reach-request.js';
import type {
  AppliedRanking,
  AppliedValuation,
  RecallAnswer,
  RecallRequest,
} from './recall-types.js';
import { certificateOf, uncertified } from './recall-types.js';
import { runnerUpOf } from './runner-up.js';
import type { RecallParts } from './runtime-types.js';
import { sightOf } from './sight.js';
import { unknownAttributes } from './unknown-attributes.js';
import { appliedValuation, termNames, type ValueProof } from './value.js';

/**
 * Items for a user: check -> history -> prompt -> engine -> items. Rejects with TesseraError:
 * REQUEST_INVALID, USER_NOT_FOUND, ITEM_NOT_FOUND, DEADLINE_EXCEEDED, CANCELLED, or what
 * Engine.recall rejects with.
 */
export async function recall(
  preparation: Preparation,
  request: RecallRequest,
  context: ScopedContext,
): Promise<RecallAnswer> {
  const { parts, limits, remembered } = preparation;
  const stopwatch = preparation.begin(context);
  const search = checkRequest(request, limits);
  const { popularity, catalogue } = parts;
  const uncapped = reachRequestOf(request, catalogue);
  const ranker = request.rank && Ranker.of(request.rank, context, catalogue);
  const prepared = await preparation.prepare(request, context, stopwatch, popularity);
  const caps = countedCaps(request, prepared, parts);
  const asked = withCaps(uncapped, caps.caps);
  if (popularity !== undefined && prepared.history?.fallback === 'popular') {
    return withPopular(parts, popularity, { request, asked, search, context, prepared, caps });
  }
  const isBound = asksForReach(request) || caps.caps.length > 0 || catalogue.hasFlights;
  const reach = context.pinned ?? (await reachOf(catalogue, ranker, asked, isBound));
  const work = { ...search, ...preparation.workOf(prepared), reach };
  const asking = { ...work, wantsTree: request.wantsSight, ranking: ranker?.inRecall };
  const answer = await parts.engine.recall(asking, context.signal);
  parts.onPasses?.(answer.passes);
  const budgetUs = context.budgetUs - stopwatch.totalUs();
  const found = { request, search, answer, work: { ...work, budgetUs } };
  const { items, ranking } = await itemsOf(parts, ranker, found, context.signal);
  checkNotErased(prepared, parts.erasures);
  const applied = appliedOf(request, catalogue, proofOf(answer, ranking));
  const requestId = requestIdOf(request);
  const { prompt, skippedItems, trimmedItems } = prepared;
  if (context.isOwn !== true) {
    const source = { userId: request.userId, adapter: context.adapter?.digest ?? '' };
    const facts = { ...source, prompt, skippedItems, trimmedItems, caps };
    remembered.keep(requestId, { ...facts, seed: search.explore?.seed });
  }
  return {
    requestId,
    items,
    short: items.length < search.answerCount,
    ...certificateOf(search.search, answer),
    widthsUsed: answer.widthsUsed,
    completeness: answer.completeness,
    itemPolicy: {
      ...(request.itemPolicy ?? NO_POLICY),
      itemsPerSid: answer.itemsPerSid,
      resultCount: search.answerCount,
      leftOutByDiversity: answer.leftOutByDiversity,
    },
    ...(ranking && { ranking }),
    ...(applied && { valuation: applied, runnerUp: ranking ? undefined : runnerUpOf(answer) }),
    ...(search.explore && {
      exploration: appliedExploration(search.explore, answer.propensities, request.eligibility),
    }),
    cappedItems: reach?.cappedItems ?? 0,
    unknownAttributes: unknownAttributes(request, () => catalogue.view()),
    capsOutcome: caps.outcome,
    ...factsOf(parts, prepared, answer),
    ...(request.wantsSight === true && { sight: sightOf(prepared.history, prompt, answer) }),
  };
}

/** Compiled off this thread, before the request waits for the engine. */
async function reachOf(
  catalogue: Catalogue,
  ranker: Ranker | undefined,
  asked: ReachRequest,
  isBound: boolean,
): Promise<Reach | undefined> {
  if (ranker?.needsReach === true) return ranker.reachOf(catalogue, asked);
  return isBound ? catalogue.reach(asked) : undefined;
}

interface Found {
  readonly request: RecallRequest;
  readonly search: SearchSettings;
  readonly answer: EngineAnswer;
  readonly work: AskedWork;
}

/** Items of the answer, in the recall's order or ranked. */
async function itemsOf(
  parts: RecallParts,
  ranker: Ranker | undefined,
  { request: { valuation }, search, answer, work }: Found,
  signal: Cancellation,
): Promise<Pick<RecallAnswer, 'items' | 'ranking'>> {
  const { catalogue } = parts;
  const terms = valuation && termNames(valuation, catalogue.valuations);
  const items = recalledItems(answer, terms, search.explore !== undefined);
  if (ranker === undefined) return { items };
  const heads = await headsOf(parts, ranker, answer, work, signal);
  if (heads === undefined) return { items: items.slice(0, search.answerCount) };
  const of = { heads, sequence: answer.catalogueSequence };
  const placed = await placedItems(catalogue, ranker, items, of);
  return answeredItems(ranker, placed, search.answerCount);
}

/** The order of heads is another than that of which critical bids are told. */
const proofOf = (
  { bestLeftOut, prices }: ValueProof,
  ranking: AppliedRanking | undefined,
): ValueProof => ({ bestLeftOut, prices: ranking === undefined ? prices : 'ranked' });

function appliedOf(
  { valuation }: RecallRequest,
  { valuations }: Catalogue,
  proof: ValueProof,
): AppliedValuation | undefined {
  return valuation && appliedValuation(valuation, valuations, proof);
}

interface Asked {
  readonly request: RecallRequest;
  readonly asked: ReachRequest;
  readonly search: SearchSettings;
  readonly context: ScopedContext;
  readonly prepared: Prepared;
  readonly caps: CountedCaps;
}

/** An answer that the engine is not asked for, of one version. */
async function withPopular(
  parts: RecallParts,
  popularity: Popularity,
  { request, asked, search, context, prepared, caps }: Asked,
): Promise<RecallAnswer> {
  const reach = context.pinned ?? (await parts.catalogue.reach(asked));
  checkNotErased(prepared, parts.erasures);
  const { items, leftOut } = popularItems(parts.catalogue, popularity, { request, search }, reach);
  const { answerCount: resultCount, itemsPerSid } = search;
  const { diversity } = request.itemPolicy ?? NO_POLICY;
  const facts = factsOf(parts, prepared, {
    ...NOTHING_COMPUTED,
    catalogueSequence: reach.sequence,
  });
  const sight = sightOf(prepared.history, prepared.prompt, { tree: undefined });
  const valuation = appliedOf(request, parts.catalogue, {
    bestLeftOut: Number.NaN,
    prices: 'popular',
  });
  const { explore } = search;
  return {
    requestId: requestIdOf(request),
    items: explore === undefined ? items : undrawn(items),
    short: items.length < resultCount,
    ...uncertified(search.search),
    widthsUsed: [],
    completeness: 'whole',
    itemPolicy: {
      ...NO_POLICY,
      diversity,
      itemsPerSid,
      resultCount,
      leftOutByDiversity: leftOut,
    },
    ...(valuation && { valuation }),
    ...(explore && { exploration: appliedExploration(explore, 'popular', undefined) }),
    cappedItems: reach.cappedItems,
    unknownAttributes: unknownAttributes(request, () => parts.catalogue.view()),
    capsOutcome: caps.outcome,
    ...facts,
    ...(request.wantsSight === true && { sight }),
  };
}
