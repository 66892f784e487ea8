import type { AddedTokenPlace } from './added-tokens.js';

/** The tokenizer as templates see it. Pure; nothing is added around the text. */
export interface Tokenizer {
  /** Token ids of the text, without the tokens that a post-processor would add. */
  encode(text: string): number[];
  /**
   * Tokens as of encode(), made on another thread where the text is long. Rejects as encode()
   * throws.
   */
  encodeAside(text: string): Promise<readonly number[]>;
  /** Id of the token whose text is exactly this one, undefined where there is none. */
  tokenId(text: string): number | undefined;
  /** Added tokens in the text, in its order; those that overlap each other as well. */
  addedTokensIn(text: string): AddedTokenPlace[];
  /** Highest token id plus one. */
  readonly vocabSize: number;
  /** SHA-256 of the files' contents, hexadecimal. */
  readonly digest: string;
}
