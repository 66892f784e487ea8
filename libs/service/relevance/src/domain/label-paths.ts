import { TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import type { RelevanceLabel } from './relevance-template.js';

/**
 * Where the tokens of labels are read: behind the prompt and behind each beginning of a label of
 * several tokens.
 */
export interface LabelPaths {
  /** Text put behind the prompt, the empty one first, and the tokens read there. */
  readonly stops: readonly LabelStop[];
  /** Per label, its tokens as places: of a stop, and among the tokens read there. */
  readonly labels: readonly (readonly LabelPlace[])[];
  /** True if a label has several tokens. */
  readonly areLong: boolean;
}

export interface LabelStop {
  readonly prefix: readonly number[];
  readonly tokens: Int32Array;
}

export interface LabelPlace {
  readonly stop: number;
  readonly token: number;
}

/** @throws TesseraError PROMPT_TEMPLATE_INVALID for a label without tokens, and for two alike */
export function labelPaths(labels: readonly RelevanceLabel[], tokenizer: Tokenizer): LabelPaths {
  const stops: { prefix: readonly number[]; tokens: number[] }[] = [{ prefix: [], tokens: [] }];
  const stopOf = (prefix: readonly number[]): number => {
    const known = stops.findIndex((stop) => stop.prefix.join() === prefix.join());
    return known >= 0 ? known : stops.push({ prefix, tokens: [] }) - 1;
  };
  const all = labels.map((label, i) => tokensOf(label, i, tokenizer));
  const placed = all.map((tokens) =>
    tokens.map((token, i) => {
      const stop = stopOf(tokens.slice(0, i));
      const read = stops[stop]?.tokens ?? [];
      const known = read.indexOf(token);
      return { stop, token: known >= 0 ? known : read.push(token) - 1 };
    }),
  );
  for (const [i, tokens] of all.entries()) {
    const same = all.findIndex((other) => other.join() === tokens.join());
    if (same < i) throw refusal(i, `other tokens than those of labels[${same}]`);
  }
  return {
    stops: stops.map(({ prefix, tokens }) => ({ prefix, tokens: Int32Array.from(tokens) })),
    labels: placed,
    areLong: stops.length > 1,
  };
}

function tokensOf({ text }: RelevanceLabel, i: number, tokenizer: Tokenizer): readonly number[] {
  const whole = tokenizer.tokenId(text);
  const tokens = whole === undefined ? encoded(text, tokenizer) : [whole];
  if (tokens.length === 0) throw refusal(i, 'a text that the tokenizer has tokens for');
  return tokens;
}

/** Empty where a part of the text has no token. */
function encoded(text: string, tokenizer: Tokenizer): readonly number[] {
  try {
    return tokenizer.encode(text);
  } catch {
    return [];
  }
}

function refusal(label: number, expected: string): TesseraError {
  const field = `labels[${label}].text`;
  return new TesseraError(
    'PROMPT_TEMPLATE_INVALID',
    `relevance.json: ${field}: expected ${expected}`,
    { field },
  );
}
