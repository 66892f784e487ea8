import { type ItemFate, type Judgement } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { factsOf, NOTHING_COMPUTED, requestIdOf, versionsOf } from './answer-facts.js';
import { checkItemId, checkRequest } from './check-request.js';
import { exactRank } from './exact-rank.js';
import { countedCaps, type Preparation, type ScopedContext } from './preparation.js';
import { reachRequestOf, withCaps } from './reach-request.js';
import type { ExplainAnswer, ExplainRequest, RecallVersions } from './recall-types.js';

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
  const search = checkRequest(recall, limits);
  checkItemId('itemId', itemId);
  const uncapped = reachRequestOf(recall);
  checkSameVersions(versions, versionsOf(parts, context.adapter, engine.model.digest));
  const replayed = versions && preparation.replay(recall, context, stopwatch);
  const prepared = replayed ?? (await preparation.prepare(recall, context, stopwatch));
  const { caps } = countedCaps(recall, prepared, parts);
  const asked = { itemId, sequence: versions?.catalogueSequence };
  const judged = await catalogue.judge({ ...asked, request: withCaps(uncapped, caps) });
  const decided = catalogueVerdict(judged);
  const { sid, reach } = judged;
  const answer = { requestId: requestIdOf(recall), itemId, sid };
  if (decided !== undefined) {
    const facts = { ...NOTHING_COMPUTED, catalogueSequence: reach.sequence };
    return { ...answer, ...decided, widthsUsed: [], ...factsOf(parts, prepared, facts) };
  }
  const work = preparation.workOf(prepared);
  const watched = await engine.recall(
    { ...search, ...work, allowsPartial: false, reach, watchedItem: judged.item },
    context.signal,
  );
  const { scoreNorm, priority } = search;
  const question = {
    itemId,
    asked: withCaps(uncapped, caps),
    sequence: reach.sequence,
    work: { ...work, scoreNorm, priority },
    budgetUs: context.budgetUs - stopwatch.totalUs(),
  };
  const rank = await exactRank(parts, question, context.signal);
  return {
    ...answer,
    ...searchVerdict(watched.fate),
    ...rank,
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

type VerdictFields = Pick<
  ExplainAnswer,
  'verdict' | 'rank' | 'step' | 'score' | 'cutScore' | 'clause' | 'attribute' | 'notLiveSince'
>;

/** The verdict where the catalogue decides alone; undefined where it takes a search. */
function catalogueVerdict({ verdict, clause, notLiveSince }: Judgement): VerdictFields | undefined {
  switch (verdict) {
    case 'not-in-catalogue':
      return { verdict };
    case 'not-live':
      return { verdict, notLiveSince };
    case 'not-eligible':
      return { verdict, clause };
    default:
      return undefined;
  }
}

/** The verdict of the search that watched the item. */
function searchVerdict(fate: ItemFate | undefined): VerdictFields {
  if (fate === undefined || fate.verdict === 'open') {
    throw new TesseraError('INTERNAL', 'the search ended without a verdict on the item');
  }
  const { verdict, rank, step, score, cutScore, attribute } = fate;
  if (verdict === 'pruned') return { verdict, rank, step, score, cutScore };
  if (verdict === 'behind-diversity-cap') return { verdict, score, attribute };
  return verdict === 'returned' ? { verdict, rank, score } : { verdict, score };
}
