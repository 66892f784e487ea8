import { type LengthSpread, Random } from '../../models/random.js';
import { TOKENS, wordOf } from '../../models/random-encoder.js';

/** Tokens of a text, the special ones included: lognormal. */
const LENGTH: LengthSpread = { median: 48, spread: 0.8, least: 8, most: 256 };

/** Of an ad's title. */
export const TITLE: LengthSpread = { median: 14, spread: 0.4, least: 6, most: 32 };

/** A text, and what the tokenizer makes of it. */
export interface DrawnText {
  readonly text: string;
  readonly tokens: readonly number[];
}

export function drawTexts(
  count: number,
  seed: number,
  lengths: LengthSpread = LENGTH,
): readonly DrawnText[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const length = random.length(lengths);
    const own = Array.from(
      { length: length - 2 },
      () => TOKENS.first + random.below(TOKENS.count - TOKENS.first),
    );
    return { text: own.map(wordOf).join(' '), tokens: [TOKENS.begin, ...own, TOKENS.end] };
  });
}
