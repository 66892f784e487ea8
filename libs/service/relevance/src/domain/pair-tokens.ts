import { beginningTokens, type TextTokenizer } from '@tessera/embedding';
import { expecting } from '@tessera/errors';
import { DOCUMENT_BYTES_MAX, lookedAt, tooLong } from './pair-prompts.js';

const invalid = expecting('REQUEST_INVALID');

/** The tokenizer of a model that reads pairs of texts. */
export type PairTokenizer = Pick<TextTokenizer, 'encode' | 'encodePair'>;

/** A query and a document as an encoder reads them. */
export interface PairTokens {
  readonly tokens: readonly number[];
  /**
   * Index of the second segment's first token; the number of tokens where the model has one
   * segment.
   */
  readonly secondFrom: number;
  /** Tokens of the document. */
  readonly documentTokens: number;
  /** Tokens at the end of the document that were left out so that the pair fits. */
  readonly cutTokens: number;
  readonly isTruncated: boolean;
}

const PROBE = 'a';
/** Bytes of a text for each token that a pair may have: more than any text that is read has. */
const TOKEN_BYTES_MAX = 16;

/** Tokens that a tokenizer puts around two texts. */
interface PairForm {
  readonly before: readonly number[];
  readonly between: readonly number[];
  readonly behind: readonly number[];
  readonly hasSegments: boolean;
}

/**
 * Pairs to tokens, as the tokenizer writes them. Of one that is too long the document's last tokens
 * are left out and never the query's: `only_second` of transformers.
 */
export class PairTokenMaker {
  private readonly special: ReadonlySet<number>;

  private constructor(
    private readonly tokenizer: PairTokenizer,
    private readonly tokensMax: number,
    private readonly form: PairForm,
  ) {
    this.special = new Set([...form.before, ...form.between, ...form.behind]);
  }

  /**
   * @param tokensMax of a pair
   * @throws TesseraError TOKENIZER_INVALID
   */
  static async of(tokenizer: PairTokenizer, tokensMax: number): Promise<PairTokenMaker> {
    const own = await tokenizer.encode(PROBE);
    const { ids, segments } = await tokenizer.encodePair(PROBE, PROBE);
    const placeOf = (from: number) =>
      ids.findIndex((_, at) => at >= from && own.every((token, i) => ids[at + i] === token));
    const first = placeOf(0);
    const second = placeOf(first + own.length);
    return new PairTokenMaker(tokenizer, tokensMax, {
      before: ids.slice(0, first),
      between: ids.slice(first + own.length, second),
      behind: ids.slice(second + own.length),
      hasSegments: segments[second] === 1,
    });
  }

  /** Tokens of every pair beside those of its texts. */
  private get fixedTokens(): number {
    const { before, between, behind } = this.form;
    return before.length + between.length + behind.length;
  }

  /** True if each pair ends with the token. */
  isLast(token: unknown): boolean {
    return this.form.behind.at(-1) === token && token !== undefined;
  }

  /** @throws TesseraError REQUEST_INVALID naming `query` */
  async queryTokens(query: string): Promise<readonly number[]> {
    if (query.trim() === '') throw invalid('query', 'a text that is not empty', 'none');
    const most = this.tokensMax - this.fixedTokens - 1;
    const [bytes, bytesMax] = [Buffer.byteLength(query), most * TOKEN_BYTES_MAX];
    if (bytes > bytesMax) throw invalid('query', `at most ${bytesMax} bytes`, bytes);
    const tokens = await this.tokensOf('query', query, most);
    if (tokens.length > most) throw invalid('query', `at most ${most} tokens`, 'more');
    return tokens;
  }

  /** @throws TesseraError REQUEST_INVALID naming `field` */
  async pairOf(
    query: readonly number[],
    document: string,
    field: string,
    cuts: boolean,
  ): Promise<PairTokens> {
    const { before, between, behind, hasSegments } = this.form;
    const room = this.tokensMax - this.fixedTokens - query.length;
    const bytesMax = Math.min(DOCUMENT_BYTES_MAX, this.tokensMax * TOKEN_BYTES_MAX);
    const all = await this.tokensOf(field, lookedAt(document, field, cuts, bytesMax), room);
    const cutTokens = Math.max(0, all.length - room);
    if (cutTokens > 0 && !cuts) {
      throw tooLong(field, `${room} tokens beside the query`, 'more');
    }
    const own = all.slice(0, room);
    const first = [...before, ...query, ...between];
    const tokens = [...first, ...own, ...behind];
    const secondFrom = hasSegments ? first.length : tokens.length;
    return {
      tokens,
      secondFrom,
      documentTokens: own.length,
      cutTokens,
      isTruncated: cutTokens > 0,
    };
  }

  /** A text must not end its segment: the special tokens are the template's. */
  private async tokensOf(field: string, text: string, room: number): Promise<readonly number[]> {
    const tokens = await beginningTokens(this.tokenizer, text, room);
    if (!tokens.some((token) => this.special.has(token))) return tokens;
    throw invalid(field, 'a text without the special tokens of the model', 'one of them');
  }
}
