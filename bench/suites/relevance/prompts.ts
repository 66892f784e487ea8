import { VOCABULARY } from '../../models/model-shape.js';
import { Random } from '../../models/random.js';

/** Tokens of the parts of a pair's prompt. */
const QUERY_TOKENS = 150;
const TAIL_TOKENS = 12;
const ITEM_TOKENS = { median: 48, least: 8, most: 200, spread: 0.6 };
const TYPICAL_BEGINNING = 16;
export const LABELS = Int32Array.of(11, 12);

/**
 * Prompts of one query and `count` items of lognormal length, each third of which begins as the one
 * before it does.
 */
export function pairs(count: number, seed: number): readonly (readonly number[])[] {
  const random = new Random(seed);
  const some = (length: number) => Array.from({ length }, () => random.below(VOCABULARY));
  const query = some(QUERY_TOKENS);
  const tail = some(TAIL_TOKENS);
  let before: readonly number[] = [];
  return Array.from({ length: count }, (_, i) => {
    const length = itemLength(random);
    const own = i % 3 === 2 ? before.slice(0, Math.min(TYPICAL_BEGINNING, length)) : [];
    before = [...own, ...some(length - own.length)];
    return [...query, ...before, ...tail];
  });
}

function itemLength(random: Random): number {
  const { median, least, most, spread } = ITEM_TOKENS;
  const angle = 2 * Math.PI * random.uniform();
  const normal = Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(angle);
  return Math.round(Math.min(most, Math.max(least, median * Math.exp(spread * normal))));
}

/** Distinct beginnings, to a multiple of so many tokens where prompts are shared by blocks. */
export function distinctTokens(prompts: readonly (readonly number[])[], block = 1): number {
  const sorted = prompts.map((prompt) => [...prompt]).sort(compare);
  let before: readonly number[] = [];
  let distinct = 0;
  for (const prompt of sorted) {
    let common = 0;
    while (common < prompt.length - 1 && prompt[common] === before[common]) common += 1;
    distinct += prompt.length - (common - (common % block));
    before = prompt;
  }
  return distinct;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((token, i) => token !== b[i]);
  return at < 0 ? a.length - b.length : (a[at] ?? -1) - (b[at] ?? -1);
}
