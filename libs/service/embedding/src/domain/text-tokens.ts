/** The tokenizer of a model of texts. Its work is done beside Node's main thread. */
export interface TextTokenizer {
  /** A text's own tokens. */
  encode(text: string): Promise<readonly number[]>;
  /** With the special ones before and behind them. */
  encodeWhole(text: string): Promise<readonly number[]>;
  /** Two texts with the special ones around them. */
  encodePair(first: string, second: string): Promise<EncodedPair>;
}

/** Texts of a call that are made into tokens at a time: half of the threads that Node has. */
export const TEXTS_AT_ONCE = 2;

export interface EncodedPair {
  readonly ids: readonly number[];
  /** 0 or 1 per token. */
  readonly segments: readonly number[];
}

export interface TextTokens {
  readonly tokens: readonly number[];
  readonly isTruncated: boolean;
  /** Index of the second segment's first token; left out: it has none. */
  readonly secondFrom?: number;
}

const PROBE = 'a';
/**
 * Tokens of a text's beginning whose end was cut off: those further than this from the cut are the
 * tokens of the whole text. WordPiece looks at a word of at most 100 letters, merges and pieces of
 * Unigram at far fewer.
 */
const CUT_TOKENS = 256;
/** Characters of a beginning for each token that is wanted of it; twice as many, where too few. */
const TOKEN_CHARACTERS = 8;

type Encoder = Pick<TextTokenizer, 'encode' | 'encodeWhole'>;

/**
 * Texts to tokens. Where they are too many, the last of the text's own go and the special ones
 * stay, as transformers truncates.
 */
export class TextTokenMaker {
  /** For the text's own tokens. */
  private readonly room: number;

  private constructor(
    private readonly tokenizer: Encoder,
    private readonly tokensMax: number,
    private readonly before: readonly number[],
    private readonly behind: readonly number[],
  ) {
    this.room = Math.max(0, tokensMax - before.length - behind.length);
  }

  /** @throws TesseraError TOKENIZER_INVALID */
  static async of(tokenizer: Encoder, tokensMax: number): Promise<TextTokenMaker> {
    const own = await tokenizer.encode(PROBE);
    const whole = await tokenizer.encodeWhole(PROBE);
    const places = whole.map((_, start) => start);
    const isAt = (start: number) => own.every((token, i) => whole[start + i] === token);
    const start = places.find(isAt) ?? 0;
    const behind = whole.slice(start + own.length);
    return new TextTokenMaker(tokenizer, tokensMax, whole.slice(0, start), behind);
  }

  async tokensOf(text: string): Promise<TextTokens> {
    const { before, behind, room } = this;
    const own = await beginningTokens(this.tokenizer, text, room);
    return {
      tokens: [...before, ...own.slice(0, room), ...behind].slice(0, this.tokensMax),
      isTruncated: own.length > room,
    };
  }
}

/**
 * A text's own tokens: all, or more than there is room for, those with room being right. Of a long
 * text not much more is read than that takes.
 */
export async function beginningTokens(
  tokenizer: Pick<TextTokenizer, 'encode'>,
  text: string,
  room: number,
): Promise<readonly number[]> {
  const wanted = room + CUT_TOKENS;
  let characters = wanted * TOKEN_CHARACTERS;
  while (characters < text.length) {
    const own = await tokenizer.encode(text.slice(0, cutAt(text, characters)));
    if (own.length > wanted) return own;
    characters *= 2;
  }
  return tokenizer.encode(text);
}

const SPACE = /\s/;
/** Characters back in which a space is looked for: longer words are cut. */
const WORD_CHARACTERS_MAX = 256;

/** Index to cut at: before a space where there is one near, and never within a code point. */
function cutAt(text: string, characters: number): number {
  for (let at = characters; at > characters - WORD_CHARACTERS_MAX && at > 0; at -= 1) {
    if (SPACE.test(text[at] as string)) return at;
  }
  return (text.charCodeAt(characters) & 0xfc00) === 0xdc00 ? characters - 1 : characters;
}
