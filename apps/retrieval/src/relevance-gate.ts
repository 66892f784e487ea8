import { TesseraError } from '@tessera/errors';
import type { ItemText } from '@tessera/prompt';
import {
  type RecallAnswer,
  type RecallContext,
  type RecallFacts,
  type RecallRequest,
  worthOf,
} from '@tessera/recall';
import type { RelevanceScorer } from '@tessera/relevance';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';

interface GateParts {
  readonly recall: (request: RecallRequest, context: RecallContext) => Promise<RecallAnswer>;
  readonly relevance: Pick<RelevanceScorer, 'score' | 'itemText' | 'checkAdapter'> | undefined;
  readonly facts: Pick<RecallFacts, 'describe'>;
}

/**
 * Recalls, and lets through what fits the query of the request: in the time that the recall leaves.
 * Rejects as the recall does, with REQUEST_INVALID for the query, with MODEL_NOT_FOUND where no
 * model scores texts, with ADAPTER_NOT_FOUND for the adapter that scores, and where no text could
 * be scored with the reason of the first.
 */
export async function recallThroughGate(
  { recall, relevance, facts }: GateParts,
  request: RecallRequest,
  context: RecallContext,
): Promise<RecallAnswer> {
  const { relevance: gate } = request;
  if (gate === undefined) return recall(request, context);
  if (relevance === undefined) throw noRelevanceModel();
  relevance.checkAdapter(gate.adapter, 'relevance.adapter');
  const endsMs = performance.now() + context.budgetUs / MICROSECONDS_PER_MILLISECOND;
  const answer = await recall(request, context);
  const written = textsOf(answer.items, request.catalogue, relevance.itemText, facts);
  if (written.length === 0) return passed(answer, new Map(), gate);
  const { outcomes } = await relevance.score(
    {
      query: gate.query,
      documents: written.map(({ text }) => text),
      tooLong: 'cut',
      failures: 'each',
      priority: request.priority ?? 'normal',
      adapter: gate.adapter,
    },
    {
      signal: context.signal,
      budgetUs: (endsMs - performance.now()) * MICROSECONDS_PER_MILLISECOND,
    },
  );
  const scores = new Map<string, number>();
  for (const [i, outcome] of outcomes.entries()) {
    if (!('error' in outcome)) scores.set(written[i]?.itemId ?? '', outcome.score);
  }
  const failed = outcomes.find((outcome) => 'error' in outcome);
  if (scores.size === 0 && failed !== undefined && 'error' in failed) throw failed.error;
  return passed(answer, scores, gate);
}

/** Items that have a text. Attributes are looked up: an answer has only those asked for. */
function textsOf(
  items: RecallAnswer['items'],
  catalogue: string | undefined,
  itemText: ItemText,
  facts: GateParts['facts'],
) {
  const ids = items.map(({ itemId }) => itemId);
  const described = itemText.usesAttributes ? facts.describe(ids, catalogue) : [];
  return items.flatMap(({ itemId, title }, i) => {
    const text = itemText.of({ title, attributes: described[i]?.attributes ?? '{}' });
    return text === '' ? [] : { itemId, text };
  });
}

export function noRelevanceModel(): TesseraError {
  const message = 'relevance.path: expected the folder of a model that scores texts, got none';
  return new TesseraError('MODEL_NOT_FOUND', message, { field: 'relevance.path' });
}

/** The items that may pass, in their new order. Items that tie keep theirs. */
function passed(
  answer: RecallAnswer,
  scores: ReadonlyMap<string, number>,
  { minScore, weight }: NonNullable<RecallRequest['relevance']>,
): RecallAnswer {
  const scored = answer.items.map((item) => ({ ...item, relevanceScore: scores.get(item.itemId) }));
  const kept = scored.filter(
    ({ relevanceScore }) => minScore === undefined || (relevanceScore ?? -Infinity) >= minScore,
  );
  if (weight !== undefined) {
    const mixed = (item: (typeof kept)[number]) =>
      item.relevanceScore === undefined
        ? -Infinity
        : worthOf(item, answer.ranking) + weight * item.relevanceScore;
    kept.sort((a, b) => mixed(b) - mixed(a) || a.rank - b.rank);
  }
  const isGated = weight !== undefined || minScore !== undefined;
  const items = kept.map((item, index) => ({
    ...(isGated ? withoutProofs(item, weight !== undefined) : item),
    rank: index + 1,
  }));
  const { exploration, valuation } = answer;
  return {
    ...answer,
    items,
    short: answer.short || items.length < answer.items.length,
    ...(exploration &&
      isGated && {
        exploration: { ...exploration, noPropensities: exploration.noPropensities || 'relevance' },
      }),
    ...(valuation &&
      weight !== undefined && {
        valuation: { ...valuation, noPrices: valuation.noPrices || 'relevance' },
        runnerUp: undefined,
      }),
  };
}

/**
 * Proofs about an item's place in the order of the search do not hold of another order. Nor would a
 * propensity beside items that the gate drops: an estimate would take them for never rewarded.
 */
function withoutProofs<Item extends RecallAnswer['items'][number]>(
  item: Item,
  isReordered: boolean,
): Item {
  const { propensity: _, value, ...rest } = item;
  if (value === undefined) return rest as Item;
  const { criticalBid: __, ...worth } = value;
  return { ...rest, value: isReordered ? worth : value } as Item;
}
