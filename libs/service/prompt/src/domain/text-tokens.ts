import type { AddedToken } from './added-tokens.js';
import { checkBorders, type FreeValuePlace } from './slot-value.js';
import type { Tokenizer } from './tokenizer.js';

/** Characters of cached texts at most; the least recently used go first. */
const TEXT_CACHE_LENGTH_MAX = 1 << 20;

/** Level tokens that a stretch of text touches. */
export interface Neighbours {
  readonly left: boolean;
  readonly right: boolean;
}

/**
 * Tokens of the stretches of text between level tokens, cached. A stretch is tokenised with a
 * level token on each side where the prompt has one: tokenizers treat the start of a text unlike
 * its middle (a leading space, stripping), so a stretch alone could give other ids than the whole
 * prompt does.
 */
export class TextTokens {
  private readonly cache = new Map<string, readonly number[]>();
  private cachedLength = 0;
  private readonly anchor: string;

  /**
   * @param anchorText text of a level token; '' where level tokens have no text
   * @param isReserved whether no value of a request may make the token
   */
  constructor(
    private readonly tokenizer: Tokenizer,
    anchorText: string,
    private readonly isReserved: (token: AddedToken) => boolean,
  ) {
    this.anchor = isSingleToken(tokenizer, anchorText) ? anchorText : '';
  }

  /**
   * @param values those of the request in the text
   * @throws TesseraError REQUEST_INVALID where one of them forges a token with what is beside it
   */
  encode(
    text: string,
    neighbours: Neighbours,
    values: readonly FreeValuePlace[] = [],
  ): readonly number[] {
    if (text === '') return [];
    const left = neighbours.left ? this.anchor : '';
    const right = neighbours.right ? this.anchor : '';
    const whole = left + text + right;
    const key = values.reduce((to, { start, end }) => `${to}\0${start}\0${end}`, whole);
    const cached = this.cache.get(key);
    if (cached !== undefined) {
      this.cache.delete(key);
      this.cache.set(key, cached);
      return cached;
    }
    checkBorders(text, values, this.tokenizer, this.isReserved);
    const ids = this.tokenizer.encode(whole);
    const own = ids.slice(left === '' ? 0 : 1, right === '' ? ids.length : -1);
    this.remember(key, own);
    return own;
  }

  private remember(key: string, ids: readonly number[]): void {
    if (key.length > TEXT_CACHE_LENGTH_MAX) return;
    this.cache.set(key, ids);
    this.cachedLength += key.length;
    for (const oldest of this.cache.keys()) {
      if (this.cachedLength <= TEXT_CACHE_LENGTH_MAX) break;
      this.cache.delete(oldest);
      this.cachedLength -= oldest.length;
    }
  }
}

/** True where the text is one token wherever it stands, as added tokens are. */
function isSingleToken(tokenizer: Tokenizer, text: string): boolean {
  if (text === '') return false;
  const id = tokenizer.tokenId(text);
  const ids = tokenizer.encode(text + text);
  return ids.length === 2 && ids[0] === id && ids[1] === id;
}
