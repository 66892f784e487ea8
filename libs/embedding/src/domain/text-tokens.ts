/** The tokenizer of a model of texts. */
export interface TextTokenizer {
  /** A text's own tokens. */
  encode(text: string): readonly number[];
  /** With the special ones before and behind them. */
  encodeWhole(text: string): readonly number[];
}

export interface TextTokens {
  readonly tokens: readonly number[];
  readonly isTruncated: boolean;
}

const PROBE = 'a';

/**
 * Texts to tokens. Where they are too many, the last of the text's own go and the special ones
 * stay, as transformers truncates.
 */
export class TextTokenMaker {
  private readonly before: readonly number[];
  private readonly behind: readonly number[];

  constructor(
    private readonly tokenizer: TextTokenizer,
    private readonly tokensMax: number,
  ) {
    const own = tokenizer.encode(PROBE);
    const whole = tokenizer.encodeWhole(PROBE);
    const places = whole.map((_, start) => start);
    const isAt = (start: number) => own.every((token, i) => whole[start + i] === token);
    const start = places.find(isAt) ?? 0;
    this.before = whole.slice(0, start);
    this.behind = whole.slice(start + own.length);
  }

  tokensOf(text: string): TextTokens {
    const tokens = this.tokenizer.encodeWhole(text);
    if (tokens.length <= this.tokensMax) return { tokens, isTruncated: false };
    const { before, behind } = this;
    const room = Math.max(0, this.tokensMax - before.length - behind.length);
    const own = this.tokenizer.encode(text).slice(0, room);
    return {
      tokens: [...before, ...own, ...behind].slice(0, this.tokensMax),
      isTruncated: true,
    };
  }
}
