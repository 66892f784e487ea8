import type { EngineAnswer } from '@tessera/engine';
import type { Prompt } from '@tessera/prompt';
import type { ResolvedHistory } from '../context/resolve-history.js';
import type { RecallSight } from './answer-types.js';

/** The recorded part of a recall; an earlier prompt that is replayed has no history. */
export function sightOf(
  history: ResolvedHistory | undefined,
  prompt: Pick<Prompt, 'shown'>,
  { tree }: Pick<EngineAnswer, 'tree'>,
): RecallSight {
  const { items = [], itemIds = [], profile = {} } = history ?? {};
  const ranges = rangesOf(items, prompt);
  const seen = items.map(({ sid, action, time }, index) => {
    const tokens = ranges[index];
    const item = { itemId: itemIds[index] ?? '', sid, action, time };
    return tokens === undefined ? item : { ...item, tokens };
  });
  return { history: seen, profile, tree };
}

/**
 * By place in the history; the last where the prompt shows an item more than once. Text
 * before the first item belongs to no item.
 */
function rangesOf(
  items: readonly { readonly sid: readonly number[] }[],
  { shown }: Pick<Prompt, 'shown'>,
): (readonly [number, number] | undefined)[] {
  const ranges: (readonly [number, number] | undefined)[] = [];
  let before: number | undefined;
  for (const { place, endToken } of shown) {
    ranges[place] = [before ?? endToken - (items[place]?.sid.length ?? 0), endToken];
    before = endToken;
  }
  return ranges;
}
