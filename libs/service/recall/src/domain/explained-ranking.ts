import type { EngineAnswer } from '@tessera/engine';
import type { Cancellation } from '@tessera/errors';
import { recalledItems } from './item-scores.js';
import { type AskedWork, headsOf, placedItems } from './ranked-items.js';
import type { Ranker } from './ranking.js';
import type { ExplainAnswer, RecallRequest } from './recall-types.js';
import type { RecallParts } from './runtime-types.js';
import { termNames } from './value.js';

interface Fields extends Pick<ExplainAnswer, 'verdict' | 'ranking' | 'rankedItems'> {
  readonly rank: number | undefined;
  readonly cutScore?: number;
}

/** A recall that is ranked, as it was replayed. */
export interface RankedReplay {
  readonly recall: RecallRequest;
  readonly watched: EngineAnswer;
  readonly work: AskedWork;
  /** Of the answer. */
  readonly answerCount: number;
}

/**
 * The fate of an item among those that were ranked; undefined where it was not recalled. A drawn
 * one has one of the last places. Rejects as Engine.rank does.
 */
export async function explainedRanking(
  parts: RecallParts,
  ranker: Ranker,
  itemId: string,
  { recall, watched, work, answerCount }: RankedReplay,
  signal: Cancellation,
): Promise<Fields | undefined> {
  if (watched.items.every((item) => item.itemId !== itemId)) return undefined;
  const { catalogue } = parts;
  const heads = await headsOf(parts, ranker, watched, work, signal);
  if (heads === undefined) return undefined;
  const terms = recall.valuation && termNames(recall.valuation, catalogue.valuations);
  const items = recalledItems(watched, terms, recall.explore !== undefined);
  const of = { heads, sequence: watched.catalogueSequence };
  const placed = await placedItems(catalogue, ranker, items, of);
  const candidates = placed.filter(({ item }) => item.explored !== true);
  const ordered = ranker.order(candidates);
  const own = placed.find(({ item }) => item.itemId === itemId);
  const { ranking, key = Number.NaN } = own ?? {};
  const said = { ranking, rankedItems: placed.length };
  const drawn = placed.length - candidates.length;
  const answered = Math.min(ordered.length, answerCount - drawn);
  if (own?.item.explored === true) {
    const rank = answered + placed.indexOf(own) - candidates.length + 1;
    return { ...said, verdict: 'returned', rank };
  }
  if (Number.isNaN(key)) return { ...said, verdict: 'no-value', rank: undefined };
  const rank = ordered.findIndex(({ item }) => item.itemId === itemId) + 1;
  if (rank === 0)
    return { ...said, verdict: 'below-floor', rank: undefined, cutScore: ranker.floor };
  return { ...said, verdict: rank <= answered ? 'returned' : 'behind-ranked', rank };
}
