/** Parts of the answer of a fake engine. */

import type { ItemFate } from '@tessera/engine';

/** Of an answer whose best path left out has the score. */
export function certificateOf(score = Number.NEGATIVE_INFINITY, isFull = false) {
  const certified = isFull || score === Number.NEGATIVE_INFINITY;
  return { certified, gap: certified ? Number.NEGATIVE_INFINITY : score };
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
