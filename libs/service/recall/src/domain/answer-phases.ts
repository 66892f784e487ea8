/** Phases behind the order of a recall's items: places, prices, exploration. */

import type { Phase } from './phase.js';
import type { RecalledItem } from './recall-types.js';
import { runnerUpOf } from './runner-up.js';
import { appliedValuation } from './value.js';

/** Cuts the items to those that are answered: the best, then drawn items in the last places. */
export const placed: Phase = (draft, { search }) => {
  const drawn = draft.items.filter(({ explored }) => explored === true);
  const best = draft.items.filter(({ explored }) => explored !== true);
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
  const { bestLeftOut } = found;
  return {
    ...draft,
    items: prices === 'ranked' ? draft.items.map(withoutBid) : draft.items,
    valuation: appliedValuation(valuation, catalogue.valuations, { bestLeftOut, prices }),
    runnerUp: prices === 'ranked' ? undefined : runnerUpOf(found),
  };
};

const withoutBid = (item: RecalledItem): RecalledItem => ({
  ...item,
  value: item.value && { ...item.value, criticalBid: undefined },
});

/** Tells the draw as it was applied, and why propensities are unknown where they are. */
export const explored: Phase = (draft, { search: { explore } }, { noPropensities }) =>
  explore === undefined ? draft : { ...draft, exploration: { ...explore, noPropensities } };
