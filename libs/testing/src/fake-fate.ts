/** Parts of the answer of a fake engine. */

import type { EngineAnswer, EngineRequest, ItemFate } from '@tessera/engine';
import type { FakeReach } from './fake-catalogue.js';

/** Certificate of an answer whose best path left out has the score. */
export function certificateOf(score = Number.NEGATIVE_INFINITY, isFull = false) {
  const certified = isFull || score === Number.NEGATIVE_INFINITY;
  return { certified, gap: certified ? Number.NEGATIVE_INFINITY : score };
}

type Found = EngineAnswer['items'][number];

/** Returned items: by value where the reach has a valuation, with the drawn places marked. */
export function returnedOf(
  { binding, reach, resultCount, rowBudget, explore }: EngineRequest,
  found: readonly Found[],
) {
  const propensities = rowBudget ? ('known' as const) : ('beam' as const);
  const { valuation } = (reach as FakeReach | undefined) ?? {};
  const items = valuation === undefined ? found : byValue(binding.catalogue, reach, found);
  const firstDrawn = Math.min(items.length, resultCount) - (explore?.slots ?? 0);
  const propensity = propensities === 'known' ? 0.5 : Number.NaN;
  const returned = items
    .slice(0, resultCount)
    .map((item, i) =>
      explore && i >= firstDrawn ? { ...item, explored: true, propensity } : item,
    );
  const bestLeftOut = items[resultCount]?.value ?? Number.NEGATIVE_INFINITY;
  const itemTerms = Float32Array.from(returned, ({ value, score }) => value - score);
  const prices = Number.isFinite(bestLeftOut) ? ('known' as const) : ('none-left-out' as const);
  const bestLeftOutId = items[resultCount]?.itemId ?? '';
  const leftOut = { bestLeftOut, bestLeftOutId, bestLeftOutBid: 2 };
  return { returned, itemTerms, ...leftOut, prices, propensities };
}

function byValue(
  catalogue: EngineRequest['binding']['catalogue'],
  reach: EngineRequest['reach'],
  found: readonly Found[],
): readonly Found[] {
  const itemIds = found.map(({ itemId }) => itemId);
  const { sums, floor } = catalogue.appraise(reach as FakeReach, itemIds);
  return found
    .map((item, i) => ({ ...item, value: item.score + (sums[i] ?? 0), criticalBid: 1 }))
    .filter(({ value }) => value > Number.NEGATIVE_INFINITY && value >= floor)
    .sort((a, b) => b.value - a.value);
}

/** Returned, or behind the results. */
export function fateOf(
  watched: number | undefined,
  items: readonly { readonly ordinal: number; readonly score: number }[],
): ItemFate | undefined {
  if (watched === undefined) return undefined;
  const at = items.findIndex(({ ordinal }) => ordinal === watched);
  const fate = { rank: at + 1, step: 0, score: items[at]?.score ?? 0, cutScore: 0, attribute: '' };
  return { ...fate, verdict: at < 0 ? 'behind-results' : 'returned' };
}
