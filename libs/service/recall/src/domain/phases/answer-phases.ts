/** Phases behind the order of a recall's items: places and prices. */

import type { EngineAnswer } from '@tessera/engine';
import { isDrawn, type RecalledItem, type RunnerUp } from '../answer/answer-types.js';
import { appliedValuation } from '../request/valuations.js';
import { unpriced } from './appraised-items.js';
import type { Phase } from './phase.js';

/** Cuts the items to those that are answered: the best, then drawn items in the last places. */
export const placed: Phase = (draft, { search, ranker }) => {
  // As many were found as are answered, in their places.
  if (ranker === undefined) return draft;
  const drawn = draft.items.filter(isDrawn);
  const best = draft.items.filter((item) => !isDrawn(item));
  const answered = [...best.slice(0, search.answerCount - drawn.length), ...drawn];
  return { ...draft, items: answered.map((item, index) => ({ ...item, rank: index + 1 })) };
};

/**
 * Tells the valuation as it was applied, and the prices of the answer. Prices of a recall whose
 * items were to be ranked are those of the candidates, not of the answer: they are not told.
 */
export const priced: Phase = (draft, { request, ranker, parts: { catalogue } }, found) => {
  const { valuation } = request;
  if (valuation === undefined) return draft;
  const prices = ranker === undefined || found.searched === undefined ? found.prices : 'ranked';
  return {
    ...draft,
    items: prices === 'ranked' ? draft.items.map(withoutBid) : draft.items,
    valuation: appliedValuation(valuation, catalogue.valuations, { ...found, prices }),
    runnerUp: prices === 'ranked' ? undefined : runnerUpOf(found),
  };
};

const withoutBid = (item: RecalledItem): RecalledItem => ({
  ...item,
  value: item.value && unpriced(item.value),
});

/** @returns undefined where its bid is not known */
function runnerUpOf({
  bestLeftOutId: item,
  bestLeftOutBid: bid,
}: Pick<EngineAnswer, 'bestLeftOutId' | 'bestLeftOutBid'>): RunnerUp | undefined {
  return item !== '' && Number.isFinite(bid) ? { item, bid } : undefined;
}
