import type {
  Catalogue,
  EngineAnswer,
  Exploration,
  ItemFate,
  Judgement,
  Term,
} from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { factsOf, NOTHING_COMPUTED, requestIdOf, versionsOf } from './answer-facts.js';
import { checkItemId, checkRequest } from './check-request.js';
import { exactRank } from './exact-rank.js';
import { countedCaps, type Preparation, type Prepared, type ScopedContext } from './preparation.js';
import { reachRequestOf, withCaps } from './reach-request.js';
import type {
  AppliedValuation,
  ExplainAnswer,
  ExplainRequest,
  ItemValue,
  RecallRequest,
  RecallVersions,
} from './recall-types.js';
import { AppraisedItems, appliedValuation, itemValue } from './value.js';

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
  const worth = await worthOf(catalogue, recall, judged, itemId);
  const decided = catalogueVerdict(judged, worth);
  const { excludedItems } = worth ?? {};
  const answer = { requestId: requestIdOf(recall), itemId, sid, excludedItems };
  if (decided !== undefined) {
    const facts = { ...NOTHING_COMPUTED, catalogueSequence: reach.sequence };
    return { ...answer, ...decided, widthsUsed: [], ...factsOf(parts, prepared, facts) };
  }
  const work = preparation.workOf(prepared);
  const search = { ...asked, explore: sameDraw(asked.explore, recall, prepared) };
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
  const verdict = searchVerdict(watched.fate, worth);
  return {
    ...answer,
    ...verdict,
    ...rank,
    value: valueIn(watched, worth, { itemId, verdict }),
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

/** What a recall by value has to say of the item before any search. */
interface Worth {
  readonly formula: AppliedValuation;
  readonly terms: readonly Term[];
  readonly appraised: AppraisedItems;
  readonly excludedItems: number;
}

/** Undefined where the recall goes by score. */
async function worthOf(
  catalogue: Catalogue,
  { valuation }: RecallRequest,
  { reach }: Judgement,
  itemId: string,
): Promise<Worth | undefined> {
  if (valuation === undefined) return undefined;
  const { valuations } = catalogue;
  const formula = appliedValuation(valuation, valuations, Number.NaN);
  const { terms = [] } = valuations.find(({ name }) => name === valuation.name) ?? {};
  const appraised = new AppraisedItems(catalogue.appraise(reach, [itemId]), [itemId]);
  return { formula, terms, appraised, excludedItems: await catalogue.excludedItems(reach) };
}

/** Of the answer where it has the item; else by its score, where the search came that far. */
function valueIn(
  { items, itemTerms }: EngineAnswer,
  worth: Worth | undefined,
  { itemId, verdict: { verdict, score } }: { itemId: string; verdict: VerdictFields },
): ItemValue | undefined {
  if (worth === undefined) return undefined;
  const names = Object.keys(worth.formula.weights);
  const at = items.findIndex((item) => item.itemId === itemId);
  const item = items[at];
  if (item !== undefined) {
    return itemValue(names, itemTerms.subarray(at * names.length), item);
  }
  if (verdict === 'pruned' || score === undefined) return undefined;
  return worth.appraised.valueOf(itemId, score);
}

type VerdictFields = Pick<
  ExplainAnswer,
  'verdict' | 'rank' | 'step' | 'score' | 'cutScore' | 'clause' | 'attribute' | 'notLiveSince'
>;

/** The verdict where the catalogue decides alone; undefined where it takes a search. */
function catalogueVerdict(
  { verdict, clause, notLiveSince }: Judgement,
  worth: Worth | undefined,
): VerdictFields | undefined {
  switch (verdict) {
    case 'not-in-catalogue':
      return { verdict };
    case 'not-live':
      return { verdict, notLiveSince };
    case 'not-eligible':
      return { verdict, clause };
    case 'no-value':
      return { verdict, attribute: worth?.terms[worth.appraised.termWithout()]?.attribute ?? '' };
    default:
      return undefined;
  }
}

/** The verdict of the search that watched the item. */
function searchVerdict(fate: ItemFate | undefined, worth: Worth | undefined): VerdictFields {
  if (fate === undefined || fate.verdict === 'open') {
    throw new TesseraError('INTERNAL', 'the search ended without a verdict on the item');
  }
  const { verdict, rank, step, score, cutScore, attribute } = fate;
  if (verdict === 'pruned') return { verdict, rank, step, score, cutScore };
  const { floor } = worth?.formula ?? {};
  if (verdict === 'below-floor' && floor !== undefined) return { verdict, score, cutScore: floor };
  if (verdict === 'behind-diversity-cap') return { verdict, score, attribute };
  return verdict === 'returned' ? { verdict, rank, score } : { verdict, score };
}
