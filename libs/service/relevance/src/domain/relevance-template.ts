import type { ItemText } from '@tessera/prompt';

/** How a language model is asked whether a text fits a query, and what its answer is read at. */
export interface RelevanceTemplate {
  readonly name: string;
  /**
   * The prompt in its order. Each is made into tokens by itself, with the slots of PAIR_SLOTS
   * filled in; the last one, the tail, has no slot and is never cut.
   */
  readonly segments: readonly string[];
  /** The text of an item of the catalogue. */
  readonly itemText: ItemText;
  /** Text of `{instruction}` where a request names none. */
  readonly instruction: string;
  readonly labels: readonly RelevanceLabel[];
  /**
   * `labels`: probabilities of the labels among each other; `vocabulary`: among all texts that the
   * model might go on with.
   */
  readonly over: 'labels' | 'vocabulary';
  /** `expectation`: the sum of value and probability; `logOdds`: of the labels of value 1. */
  readonly score: 'expectation' | 'logOdds';
  /** Tokens of a prompt at most; labels come on top. */
  readonly tokensMax: number;
}

export interface RelevanceLabel {
  /** Text of one token where the vocabulary has it, else as the tokenizer splits it. */
  readonly text: string;
  readonly value: number;
}

export const PAIR_SLOTS = ['instruction', 'query', 'item'] as const;
export type PairSlot = (typeof PAIR_SLOTS)[number];

/** Text around slots, as `{query}` in braces separates it. */
export const SLOT_PATTERN = /\{(instruction|query|item)\}/;

/** Slots of a segment, in its order. */
export function slotsOf(segment: string): readonly PairSlot[] {
  return segment.split(SLOT_PATTERN).filter((_, i) => i % 2 === 1) as PairSlot[];
}
