import { VOCABULARY } from '../../models/model-shape.js';
import { Random } from '../../models/random.js';

/** Tokens of the parts of a pair's prompt. */
const QUERY_TOKENS = 150;
const TAIL_TOKENS = 12;
const ITEM_TOKENS = { median: 48, least: 8, most: 200, spread: 0.6 };
const TYPICAL_BEGINNING = 16;
export const LABELS = Int32Array.of(11, 12);

export type Prompt = readonly number[];

/**
 * Prompts of one query and `count` items of lognormal length, each third of which begins as the one
 * before it does.
 */
export function pairs(count: number, seed: number): readonly Prompt[] {
  const random = new Random(seed);
  const some = (length: number) => Array.from({ length }, () => random.below(VOCABULARY));
  const query = some(QUERY_TOKENS);
  const tail = some(TAIL_TOKENS);
  let before: Prompt = [];
  return Array.from({ length: count }, (_, i) => {
    const length = random.length(ITEM_TOKENS);
    const own = i % 3 === 2 ? before.slice(0, Math.min(TYPICAL_BEGINNING, length)) : [];
    before = [...own, ...some(length - own.length)];
    return [...query, ...before, ...tail];
  });
}

/** Indices of the prompts by their tokens: neighbours share the most. */
export function inTokenOrder(prompts: readonly Prompt[]): readonly number[] {
  const compare = (a: Prompt, b: Prompt) => {
    const at = commonTokens(a, b);
    return (a[at] ?? -1) - (b[at] ?? -1);
  };
  return prompts.map((_, i) => i).sort((a, b) => compare(prompts[a] ?? [], prompts[b] ?? []));
}

export function commonTokens(a: Prompt, b: Prompt): number {
  const at = a.findIndex((token, i) => token !== b[i]);
  return at < 0 ? a.length : at;
}
