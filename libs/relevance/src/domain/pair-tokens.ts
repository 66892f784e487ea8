import type { TextTokenizer } from '@tessera/embedding';
import { expecting } from '@tessera/errors';
import { DOCUMENT_CHARACTERS_MAX } from './pair-prompts.js';

const invalid = expecting('REQUEST_INVALID');

/** The tokenizer of a model that reads pairs of texts. */
export type PairTokenizer = Pick<TextTokenizer, 'encode' | 'encodePair'>;

/** A query and a document as an encoder reads them. */
export interface PairTokens {
  readonly tokens: readonly number[];
  /** From here on tokens are of the second segment; their number where the model has one. */
  readonly secondFrom: number;
  /** Of the document. */
  readonly documentTokens: number;
  /** Tokens at the end of the document that were left out so that the pair fits. */
  readonly cutTokens: number;
  readonly isTruncated: boolean;
}

const PROBE = 'a';

/**
 * Pairs to tokens, as the tokenizer writes them. Of one that is too long the document's last tokens
 * are left out and never the query's: `only_second` of transformers.
 */
export class PairTokenMaker {
  private readonly before: readonly number[];
  private readonly between: readonly number[];
  private readonly behind: readonly number[];
  private readonly special: ReadonlySet<number>;
  private readonly hasSegments: boolean;

  /** @param tokensMax of a pair */
  constructor(
    private readonly tokenizer: PairTokenizer,
    private readonly tokensMax: number,
  ) {
    const own = tokenizer.encode(PROBE);
    const { ids, segments } = tokenizer.encodePair(PROBE, PROBE);
    const placeOf = (from: number) =>
      ids.findIndex((_, at) => at >= from && own.every((token, i) => ids[at + i] === token));
    const first = placeOf(0);
    const second = placeOf(first + own.length);
    this.before = ids.slice(0, first);
    this.between = ids.slice(first + own.length, second);
    this.behind = ids.slice(second + own.length);
    this.special = new Set([...this.before, ...this.between, ...this.behind]);
    this.hasSegments = segments[second] === 1;
  }

  /** Tokens of every pair beside those of its texts. */
  get fixedTokens(): number {
    return this.before.length + this.between.length + this.behind.length;
  }

  /** @throws TesseraError REQUEST_INVALID naming `query` */
  queryTokens(query: string): readonly number[] {
    if (query.trim() === '') throw invalid('query', 'a text that is not empty', 'none');
    const tokens = this.tokensOf('query', query);
    const most = this.tokensMax - this.fixedTokens - 1;
    if (tokens.length > most) throw invalid('query', `at most ${most} tokens`, tokens.length);
    return tokens;
  }

  /** @throws TesseraError REQUEST_INVALID naming `field` */
  pairOf(query: readonly number[], document: string, field: string, cuts: boolean): PairTokens {
    const { before, between, behind, tokensMax, fixedTokens, hasSegments } = this;
    if (document.length > DOCUMENT_CHARACTERS_MAX && !cuts) {
      throw tooLong(field, `${DOCUMENT_CHARACTERS_MAX} characters`, document.length);
    }
    const all = this.tokensOf(field, document.slice(0, DOCUMENT_CHARACTERS_MAX));
    const room = tokensMax - fixedTokens - query.length;
    const cutTokens = Math.max(0, all.length - room);
    if (cutTokens > 0 && !cuts) {
      throw tooLong(field, `${room} tokens beside the query`, all.length);
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
  private tokensOf(field: string, text: string): readonly number[] {
    const tokens = this.tokenizer.encode(text);
    if (!tokens.some((token) => this.special.has(token))) return tokens;
    throw invalid(field, 'a text without the special tokens of the model', 'one of them');
  }
}

function tooLong(field: string, most: string, got: number) {
  return invalid(field, `at most ${most}, or truncation to be asked for`, got);
}
