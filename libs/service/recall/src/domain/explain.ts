import type { Exploration, ItemFate, Judgement, ReachRequest } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { factsOf, NOTHING_COMPUTED, requestIdOf, versionsOf } from './answer-facts.js';
import { checkItemId, checkRequest, type SearchSettings } from './check-request.js';
import { exactRank } from './exact-rank.js';
import { explainedRanking } from './explained-ranking.js';
import { drawnPlace } from './exploration.js';
import { ItemWorth } from './item-worth.js';
import { countedCaps, type Preparation, type Prepared, type ScopedContext } from './preparation.js';
import { Ranker } from './ranking.js';
import { reachRequestOf, withCaps } from './reach-request.js';
import type {
  ExplainAnswer,
  ExplainRequest,
  RecallRequest,
  RecallVersions,
} from './recall-types.js';

/**
 * The fate of an item in a recall: replayed on the versions of the answer in question, so that
 * it is what became of the item there, with the item's rank among all that the request may get.
 * Rejects as `recall` does, and with CATALOGUE_NOT_FOUND where the version of the catalogue is not
 * kept.
 */
export async function explain(
  preparation: Preparation,
  request: ExplainRequest,
  context: ScopedContext,
): Promise<ExplainAnswer> {
  const { parts, limits } = preparation;
  const { catalogue, engine } = parts;
  const stopwatch = preparation.begin(context);
  const { recall, itemId, versions } = request;
  const asked = checkRequest(recall, limits);
  checkItemId('itemId', itemId);
  const uncapped = reachRequestOf(recall, catalogue);
  const ranker = recall.rank && Ranker.of(recall.rank, context, catalogue);
  checkSameVersions(versions, versionsOf(parts, context.adapter, engine.model.digest));
  const replayed = versions && preparation.replay(recall, context, stopwatch);
  const prepared = replayed ?? (await preparation.prepare(recall, context, stopwatch));
  const { caps } = countedCaps(recall, prepared, parts);
  const judged = await catalogue.judge({
    itemId,
    sequence: versions?.catalogueSequence,
    request: withCaps(uncapped, caps),
  });
  const { sid, reach } = judged;
  const worth = await ItemWorth.of(catalogue, recall, reach, itemId);
  const decided = catalogueVerdict(judged, worth?.exclusion);
  const answer = {
    requestId: requestIdOf(recall),
    itemId,
    sid,
    excludedItems: worth?.excludedItems,
  };
  if (decided !== undefined) {
    const facts = { ...NOTHING_COMPUTED, catalogueSequence: reach.sequence };
    return { ...answer, ...decided, widthsUsed: [], ...factsOf(parts, prepared, facts) };
  }
  const replay = { recall, itemId, search: asked, asked: withCaps(uncapped, caps), judged };
  const left = () => context.budgetUs - stopwatch.totalUs();
  return {
    ...answer,
    ...(await searched(preparation, { ...replay, prepared, worth, ranker, left }, context)),
  };
}

interface Replay {
  readonly recall: RecallRequest;
  readonly itemId: string;
  readonly search: SearchSettings;
  readonly asked: ReachRequest;
  readonly judged: Judgement;
  readonly prepared: Prepared;
  readonly worth: ItemWorth | undefined;
  readonly ranker: Ranker | undefined;
  /** Microseconds of the budget. */
  readonly left: () => number;
}

/** The verdict of the search, and that of the ranking. */
async function searched(
  preparation: Preparation,
  { recall, itemId, search: given, asked, judged, prepared, worth, ranker, left }: Replay,
  { signal }: ScopedContext,
) {
  const { parts } = preparation;
  const work = preparation.workOf(prepared);
  const { reach, item: watchedItem } = judged;
  const search = { ...given, explore: sameDraw(given.explore, recall, prepared) };
  const ranking = ranker?.inRecall;
  const watched = await parts.engine.recall(
    { ...search, ...work, allowsPartial: false, reach, watchedItem, ranking },
    signal,
  );
  const { scoreNorm, priority, answerCount } = search;
  const replayed = { ...work, scoreNorm, priority };
  const budgetUs = left();
  const seen = { recall, watched, work: { ...replayed, reach, budgetUs }, answerCount };
  const placed = ranker && (await explainedRanking(parts, ranker, itemId, seen, signal));
  const question = { itemId, asked, sequence: reach.sequence, work: replayed, budgetUs: left() };
  const { ranked, ...rank } = await exactRank(parts, question, signal);
  const value = worth?.valueIn(watched) ?? (ranked && worth?.valueIn(ranked));
  const isFull = watched.items.length >= search.resultCount;
  const neededBid = value && isFull && !ranker ? worth?.bidAgainst(watched, value) : undefined;
  return {
    ...(drawnPlace(watched, itemId) ??
      searchVerdict(watched.fate, value && worth?.floorAbove(value))),
    ...rank,
    ...(value && { value }),
    ...(neededBid !== undefined && { neededBid }),
    ...placed,
    widthsUsed: watched.widthsUsed,
    ...factsOf(parts, prepared, watched),
  };
}

/**
 * An answer of another model, template or catalogue cannot be replayed here.
 * @throws TesseraError REQUEST_INVALID with the field
 */
function checkSameVersions(
  asked: RecallVersions | undefined,
  served: Omit<RecallVersions, 'catalogueSequence'>,
): void {
  if (asked === undefined) return;
  for (const name of ['model', 'promptTemplate', 'catalogue', 'adapter'] as const) {
    if (asked[name] === served[name]) continue;
    const field = `versions.${name}`;
    const message = `${field}: expected '${served[name]}', which is served, got '${asked[name]}'`;
    throw new TesseraError('REQUEST_INVALID', message, { field });
  }
}

/** The same places as in the recall: by its seed, or by that which was drawn for it. */
function sameDraw(
  exploration: Exploration | undefined,
  { explore }: RecallRequest,
  { seed }: Prepared,
): Exploration | undefined {
  if (exploration === undefined) return undefined;
  return { ...exploration, seed: explore?.seed ?? seed ?? exploration.seed };
}

type VerdictFields = Pick<
  ExplainAnswer,
  'verdict' | 'rank' | 'step' | 'score' | 'cutScore' | 'clause' | 'attribute' | 'notLiveSince'
>;

/** The verdict where the catalogue decides alone; undefined where it takes a search. */
function catalogueVerdict(
  { verdict, clause, notLiveSince }: Judgement,
  exclusion: string | undefined,
): VerdictFields | undefined {
  switch (verdict) {
    case 'not-in-catalogue':
      return { verdict };
    case 'not-live':
      return { verdict, notLiveSince };
    case 'not-eligible':
      return { verdict, clause };
    default:
      return exclusion === undefined ? undefined : { verdict: 'no-value', attribute: exclusion };
  }
}

/**
 * The verdict of the search that watched the item.
 * @param floor that its value is below, whatever the search came to
 */
function searchVerdict(fate: ItemFate | undefined, floor: number | undefined): VerdictFields {
  if (fate === undefined || fate.verdict === 'open') {
    throw new TesseraError('INTERNAL', 'the search ended without a verdict on the item');
  }
  const { verdict, rank, step, score, cutScore, attribute } = fate;
  if (floor !== undefined) return { verdict: 'below-floor', score, cutScore: floor };
  if (verdict === 'pruned') return { verdict, rank, step, score, cutScore };
  if (verdict === 'below-floor') return { verdict, score, cutScore };
  if (verdict === 'behind-diversity-cap') return { verdict, score, attribute };
  return verdict === 'returned' ? { verdict, rank, score } : { verdict, score };
}
