import { expecting, type TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import { joined } from './joined-tokens.js';
import { type RelevanceTemplate, SLOT_PATTERN, slotsOf } from './relevance-template.js';

/** Bytes of a document that are looked at: more than the longest prompt has tokens for. */
export const DOCUMENT_BYTES_MAX = 1 << 17;
/** Bytes of a query or an instruction at most, whatever tokens they make. */
export const QUERY_BYTES_MAX = 1 << 16;
const LONE_SURROGATE = /\p{Surrogate}/u;

const invalid = expecting('REQUEST_INVALID');

export interface PairPrompt {
  readonly tokens: Int32Array;
  /** Tokens of the prompt that are the document's own. */
  readonly documentTokens: number;
  /** Tokens at the end of the document that were left out so that the prompt fits. */
  readonly cutTokens: number;
}

/** A text, or the tokens of one that is always the same. */
type Part = string | readonly number[];

/** Maker of tokens from pairs of one query and many documents. */
export class PairPrompts {
  private readonly segments: readonly Part[];
  private readonly itemAt: number;

  /** @param tokensMax tokens of a prompt at most, with the tokens of a label behind it */
  constructor(
    private readonly template: RelevanceTemplate,
    private readonly tokenizer: Tokenizer,
    private readonly tokensMax: number,
  ) {
    this.segments = template.segments.map((segment) =>
      slotsOf(segment).length === 0 ? tokenizer.encode(segment) : segment,
    );
    this.itemAt = template.segments.findIndex((segment) => slotsOf(segment).includes('item'));
  }

  /**
   * Common beginning of every prompt with an instruction: the parts before query
   * and item. `isCut`: the last token may go into one of the text behind it.
   */
  private head(instruction: string): { readonly parts: Part[]; readonly isCut: boolean } {
    const parts: Part[] = [];
    for (const segment of this.segments) {
      if (typeof segment !== 'string') {
        parts.push(segment);
        continue;
      }
      const [before = ''] = segment.split(/\{(?:query|item)\}/);
      parts.push(filled(before, '', instruction));
      if (before.length < segment.length) return { parts, isCut: true };
    }
    return { parts, isCut: false };
  }

  /**
   * Everything but the documents. Rejects with REQUEST_INVALID naming `query` or `instruction`;
   * what has too many bytes is not made into tokens.
   */
  async ofQuery(query: string, instruction = this.template.instruction): Promise<QueryPrompts> {
    checkBytes('query', query);
    checkBytes('instruction', instruction);
    this.checkText('query', query);
    this.checkText('instruction', instruction);
    if (query.trim() === '') throw invalid('query', 'a text that is not empty', 'none');
    const fill = (segment: string): string => filled(segment, query, instruction);
    const filledParts = this.segments.map((part) => (typeof part === 'string' ? fill(part) : part));
    const before = (await this.tokensOf(filledParts.slice(0, this.itemAt))).flat();
    const after = (await this.tokensOf(filledParts.slice(this.itemAt + 1))).flat();
    const itemBefore = fill(this.template.segments[this.itemAt] as string);
    const room = this.tokensMax - before.length - after.length;
    const fixed = (await this.encode(itemBefore)).length;
    if (fixed >= room) {
      const got = `${before.length + fixed + after.length}`;
      const least = `at most ${this.tokensMax - 1} tokens with the template`;
      throw invalid('query', least, got);
    }
    const { parts, isCut } = this.head(instruction);
    const headTokens = headLength(await this.tokensOf(parts), isCut);
    return new QueryPrompts(this, { headTokens, before, itemBefore, fixed, after, room });
  }

  /** @throws TesseraError REQUEST_INVALID where the text could end the prompt or forge one */
  checkText(field: string, text: string): void {
    if (LONE_SURROGATE.test(text)) throw invalid(field, 'well-formed Unicode', 'a lone surrogate');
    const token = this.tokenizer
      .addedTokensIn(text)
      .map((place) => place.token.content)
      .find((content) => content.trim() !== '');
    if (token !== undefined) throw invalid(field, `a text without the token ${token}`, 'it');
  }

  /** Tokens of the parts, one after another: the thread is shared. */
  private async tokensOf(parts: readonly Part[]): Promise<(readonly number[])[]> {
    const tokens: (readonly number[])[] = [];
    for (const part of parts) {
      tokens.push(typeof part === 'string' ? await this.encode(part) : part);
    }
    return tokens;
  }

  encode(text: string): Promise<readonly number[]> {
    return this.tokenizer.encodeAside(text);
  }
}

function headLength(parts: readonly (readonly number[])[], isCut: boolean): number {
  const lengths = parts.map(({ length }) => length);
  const last = lengths.pop() ?? 0;
  return lengths.reduce((sum, one) => sum + one, isCut ? Math.max(0, last - 1) : last);
}

/** @throws TesseraError REQUEST_INVALID naming the field */
function checkBytes(field: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > QUERY_BYTES_MAX) throw invalid(field, `at most ${QUERY_BYTES_MAX} bytes`, bytes);
}

/** The text of a segment without the document. */
function filled(segment: string, query: string, instruction: string): string {
  return segment
    .split(SLOT_PATTERN)
    .map((part, i) => {
      if (i % 2 === 0) return part;
      if (part === 'item') return '';
      return part === 'query' ? query : instruction;
    })
    .join('');
}

interface QueryParts {
  readonly headTokens: number;
  readonly before: readonly number[];
  /** Text that stands before the document in its segment, and its tokens alone. */
  readonly itemBefore: string;
  readonly fixed: number;
  readonly after: readonly number[];
  /** Tokens of the document's segment at most. */
  readonly room: number;
}

/** Prompts of one query. */
export class QueryPrompts {
  constructor(
    private readonly pairs: PairPrompts,
    private readonly parts: QueryParts,
  ) {}

  /** First tokens of the prompts that those of another query have as well. */
  get headTokens(): number {
    return this.parts.headTokens;
  }

  /**
   * The prompt of the query and a document. Of one that is too long the end is left out, as the
   * scripts of models do, or it is refused. Rejects with REQUEST_INVALID naming `field`.
   */
  async of(document: string, field: string, cuts: boolean): Promise<PairPrompt> {
    const { before, itemBefore, fixed, after, room } = this.parts;
    const looked = lookedAt(document, field, cuts);
    this.pairs.checkText(field, looked);
    const tokens = await this.pairs.encode(itemBefore + looked);
    const cutTokens = Math.max(0, tokens.length - room);
    if (cutTokens > 0 && !cuts) {
      throw tooLong(field, `${room - fixed} tokens beside the query`, tokens.length - fixed);
    }
    return {
      tokens: joined([before, tokens.slice(0, room), after]),
      documentTokens: Math.max(0, Math.min(tokens.length, room) - fixed),
      cutTokens,
    };
  }
}

/**
 * The part of a document that is made into tokens.
 * @throws TesseraError REQUEST_INVALID naming `field` where it is not all, and may not be cut
 */
export function lookedAt(
  document: string,
  field: string,
  cuts: boolean,
  bytesMax = DOCUMENT_BYTES_MAX,
): string {
  // A character of a string is at most three bytes.
  if (document.length * 3 <= bytesMax) return document;
  const bytes = Buffer.byteLength(document);
  if (bytes <= bytesMax) return document;
  if (!cuts) throw tooLong(field, `${bytesMax} bytes`, bytes);
  const { read } = ENCODER.encodeInto(document, new Uint8Array(bytesMax));
  return document.slice(0, read);
}

const ENCODER = new TextEncoder();

export function tooLong(field: string, most: string, got: unknown): TesseraError {
  return invalid(field, `at most ${most}, or truncation to be asked for`, got);
}
