import type { ExplainAnswer } from '../answer/answer-types.js';
import type { AskedRecall, FoundItems } from '../phases/phase.js';
import { rankedItems } from '../phases/ranked-items.js';
import type { Ranker } from '../phases/ranker.js';

interface Fields extends Pick<ExplainAnswer, 'verdict' | 'ranking' | 'rankedItems'> {
  readonly rank: number | undefined;
  readonly cutScore?: number;
}

/**
 * The fate of an item among those that were ranked; undefined where it was not recalled. A drawn
 * one has one of the last places. Rejects as Engine.rank does.
 */
export async function explainedRanking(
  asked: AskedRecall,
  ranker: Ranker,
  itemId: string,
  found: FoundItems,
): Promise<Fields | undefined> {
  if (found.items.every((item) => item.itemId !== itemId)) return undefined;
  const items = await rankedItems(asked, ranker, found);
  if (items === undefined) return undefined;
  const { all, ordered, drawn } = items;
  const isIt = ({ item }: (typeof all)[number]) => item.itemId === itemId;
  const { ranking, key = Number.NaN } = all.find(isIt) ?? {};
  const said = { ranking, rankedItems: all.length };
  const answered = Math.min(ordered.length, asked.search.answerCount - drawn.length);
  const draw = drawn.findIndex(isIt) + 1;
  if (draw > 0) return { ...said, verdict: 'returned', rank: answered + draw };
  if (Number.isNaN(key)) return { ...said, verdict: 'no-value', rank: undefined };
  const rank = ordered.findIndex(isIt) + 1;
  if (rank === 0)
    return { ...said, verdict: 'below-floor', rank: undefined, cutScore: ranker.floor };
  return { ...said, verdict: rank <= answered ? 'returned' : 'behind-ranked', rank };
}
