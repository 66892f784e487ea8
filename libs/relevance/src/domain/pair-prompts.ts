import { expecting, type TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import { type RelevanceTemplate, SLOT_PATTERN, slotsOf } from './relevance-template.js';

/** Characters of a document that are looked at: more than the longest prompt has tokens for. */
export const DOCUMENT_CHARACTERS_MAX = 1 << 17;
const LONE_SURROGATE = /\p{Surrogate}/u;

const invalid = expecting('REQUEST_INVALID');

/** Tokens that prompts have whatever is asked. */
export interface FixedTokens {
  /** Before the document, with the instruction of the template. */
  readonly before: number;
  readonly behind: number;
  /** First tokens of all prompts that name no instruction, whatever the query. */
  readonly kept: number;
  /** Whether the query stands before the document too. */
  readonly isQueryBefore: boolean;
}

export interface PairPrompt {
  readonly tokens: readonly number[];
  /** Of these, the document's own. */
  readonly documentTokens: number;
  /** Tokens at the end of the document that were left out so that the prompt fits. */
  readonly cutTokens: number;
}

/** What pairs of one query and many documents are made into tokens by. */
export class PairPrompts {
  private readonly segments: readonly (string | readonly number[])[];
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
   * First tokens of every prompt with an instruction, whatever is asked: those before query and
   * item but the last, which may go into a token of the text behind it.
   */
  private headTokens(instruction: string): number {
    let tokens = 0;
    for (const segment of this.segments) {
      if (typeof segment !== 'string') {
        tokens += segment.length;
        continue;
      }
      const [before = ''] = segment.split(/\{(?:query|item)\}/);
      const own = this.tokenizer.encode(filled(before, '', instruction)).length;
      if (before.length < segment.length) return tokens + Math.max(0, own - 1);
      tokens += own;
    }
    return tokens;
  }

  /**
   * Everything but the documents.
   * @throws TesseraError REQUEST_INVALID naming `query` or `instruction`
   */
  ofQuery(query: string, instruction = this.template.instruction): QueryPrompts {
    this.checkText('query', query);
    this.checkText('instruction', instruction);
    if (query.trim() === '') throw invalid('query', 'a text that is not empty', 'none');
    const fill = (segment: string): string => filled(segment, query, instruction);
    const tokensOf = (segment: string | readonly number[]): readonly number[] =>
      typeof segment === 'string' ? this.tokenizer.encode(fill(segment)) : segment;
    const before = this.segments.slice(0, this.itemAt).flatMap(tokensOf);
    const after = this.segments.slice(this.itemAt + 1).flatMap(tokensOf);
    const itemBefore = fill(this.template.segments[this.itemAt] as string);
    const room = this.tokensMax - before.length - after.length;
    const fixed = this.tokenizer.encode(itemBefore).length;
    if (fixed >= room) {
      const got = `${before.length + fixed + after.length}`;
      const least = `at most ${this.tokensMax - 1} tokens with the template`;
      throw invalid('query', least, got);
    }
    const headTokens = this.headTokens(instruction);
    return new QueryPrompts(this, { headTokens, before, itemBefore, fixed, after, room });
  }

  fixedTokens(): FixedTokens {
    const { segments } = this.template;
    const tokensOf = (segment: string) =>
      this.tokenizer.encode(filled(segment, '', this.template.instruction)).length;
    const sum = (of: readonly string[]) => of.reduce((all, one) => all + tokensOf(one), 0);
    return {
      before: sum(segments.slice(0, this.itemAt + 1)),
      behind: sum(segments.slice(this.itemAt + 1)),
      kept: this.headTokens(this.template.instruction),
      isQueryBefore: segments.slice(0, this.itemAt + 1).some((of) => slotsOf(of).includes('query')),
    };
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

  encode(text: string): readonly number[] {
    return this.tokenizer.encode(text);
  }
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
   * scripts of models do, or it is refused.
   * @throws TesseraError REQUEST_INVALID naming `field`
   */
  of(document: string, field: string, cuts: boolean): PairPrompt {
    const { before, itemBefore, fixed, after, room } = this.parts;
    if (document.length > DOCUMENT_CHARACTERS_MAX && !cuts) {
      throw tooLong(field, `${DOCUMENT_CHARACTERS_MAX} characters`, document.length);
    }
    const looked = document.slice(0, cutAt(document, DOCUMENT_CHARACTERS_MAX));
    this.pairs.checkText(field, looked);
    const tokens = this.pairs.encode(itemBefore + looked);
    const cutTokens = Math.max(0, tokens.length - room);
    if (cutTokens > 0 && !cuts) {
      throw tooLong(field, `${room - fixed} tokens beside the query`, tokens.length - fixed);
    }
    return {
      tokens: [...before, ...tokens.slice(0, room), ...after],
      documentTokens: Math.max(0, Math.min(tokens.length, room) - fixed),
      cutTokens,
    };
  }
}

/** So many characters of the text, and not half of one. */
function cutAt(text: string, lengthMax: number): number {
  if (text.length <= lengthMax) return text.length;
  const code = text.charCodeAt(lengthMax - 1);
  return code >= 0xd800 && code < 0xdc00 ? lengthMax - 1 : lengthMax;
}

function tooLong(field: string, most: string, got: number): TesseraError {
  return invalid(field, `at most ${most}, or truncation to be asked for`, got);
}
