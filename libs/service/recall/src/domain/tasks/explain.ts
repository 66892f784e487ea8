import type { EngineAnswer, Exploration, ItemFate, Judgement } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { factsOf, NOTHING_COMPUTED, versionsOf } from '../answer/answer-facts.js';
import type { ExplainAnswer, RecallVersions } from '../answer/answer-types.js';
import type { Preparation, ScopedContext } from '../context/preparation.js';
import type { Prepared } from '../context/prepared.js';
import { unpriced } from '../phases/appraised-items.js';
import { askedRecall } from '../phases/asked-recall.js';
import type { AskedRecall } from '../phases/phase.js';
import { popularItems } from '../phases/popular-items.js';
import { searchedItems } from '../phases/searched-items.js';
import { checkItemId } from '../request/check-source.js';
import type { ExplainRequest, RecallRequest } from '../request/request-types.js';
import { exactRank } from './exact-rank.js';
import { explainedRanking } from './explained-ranking.js';
import { ItemWorth } from './item-worth.js';

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
  const { parts } = preparation;
  const { catalogue, engine } = parts;
  const { recall, itemId, versions } = request;
  checkItemId('itemId', itemId);
  checkSameVersions(versions, versionsOf(parts, context.adapter, engine.model.digest));
  const { popularity } = parts;
  const given = await askedRecall(preparation, recall, context, {
    popularity,
    replay: (stopwatch) => versions && preparation.replay(recall, context, stopwatch),
  });
  const { prepared, reachRequest } = given;
  const sequence = versions?.catalogueSequence;
  const question = { itemId, sequence, request: reachRequest };
  const judged = await catalogue.judge(question).catch(refuseVersion);
  const { sid, reach } = judged;
  const worth = await ItemWorth.of(catalogue, recall, reach, itemId);
  const decided = catalogueVerdict(judged, worth?.exclusion);
  const { excludedItems } = worth ?? {};
  const answer = { itemId, sid, excludedItems };
  if (decided !== undefined) {
    const facts = { ...NOTHING_COMPUTED, catalogueSequence: reach.sequence };
    return { ...answer, ...decided, widthsUsed: [], ...factsOf(parts, prepared, facts) };
  }
  const explore = sameDraw(given.search.explore, recall, prepared);
  const search = { ...given.search, explore, allowsPartial: false };
  const asked = { ...given, search, pinned: reach };
  const popular = await popularItems(asked, itemId);
  if (popular !== undefined) {
    const { fate, widthsUsed } = popular;
    const cutScore = fate.value && worth?.floorAbove(fate.value);
    const told = { ...fate, ...(cutScore !== undefined && { cutScore }) };
    return { ...answer, ...told, widthsUsed, ...factsOf(parts, prepared, popular) };
  }
  return { ...answer, ...(await searchedVerdict(asked, itemId, judged, worth)) };
}

/** The catalogue names the number of a version as a roll-back has it. */
function refuseVersion(thrown: unknown): never {
  const { code, field, message } = TesseraError.from(thrown);
  if (field !== 'sequence') throw thrown;
  const own = 'versions.catalogueSequence';
  throw new TesseraError(code, own + message.slice(field.length), { field: own, cause: thrown });
}

/** The verdict of the search, and that of the ranking. */
async function searchedVerdict(
  asked: AskedRecall,
  itemId: string,
  { reach, item: watchedItem }: Judgement,
  worth: ItemWorth | undefined,
) {
  const { parts, search, ranker, prepared, reachRequest, signal, leftUs } = asked;
  const found = await searchedItems(asked, watchedItem);
  const { answer, work } = found.searched;
  const placed = ranker && (await explainedRanking(asked, ranker, itemId, found));
  const question = {
    itemId,
    asked: reachRequest,
    sequence: reach.sequence,
    work,
    budgetUs: leftUs(),
  };
  const { ranked, ...rank } = await exactRank(parts, question, signal);
  const own = worth?.valueIn(answer) ?? (ranked && worth?.valueIn(ranked));
  // Prices among candidates are not those of the answer.
  const value = ranker && own ? unpriced(own) : own;
  const isFull = answer.items.length >= search.resultCount;
  const neededBid = value && isFull && !ranker ? worth?.bidAgainst(answer, value) : undefined;
  return {
    ...(placeIn(answer, itemId) ?? searchVerdict(answer.fate, value && worth?.floorAbove(value))),
    ...rank,
    ...(value && { value }),
    ...(neededBid !== undefined && { neededBid }),
    ...placed,
    widthsUsed: found.widthsUsed,
    ...factsOf(parts, prepared, found),
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

/** Draw of the recall: by its seed, or by the one that was drawn for it. */
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
  return { verdict, score };
}

/** The place of an item in the answer, also of one that was drawn; undefined: it has none. */
function placeIn({ items }: Pick<EngineAnswer, 'items'>, itemId: string) {
  const at = items.findIndex((item) => item.itemId === itemId);
  const item = items[at];
  return item && { verdict: 'returned' as const, rank: at + 1, score: item.score };
}
