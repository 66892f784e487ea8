import { createHash } from 'node:crypto';
import type { LevelTokens } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { AddedToken } from './added-tokens.js';
import { gapText, type HistoryPlan, type PromptItem, planHistory } from './history-plan.js';
import { levelTokens, levelTokenText, NO_TOKEN } from './level-tokens.js';
import type {
  Affix,
  HistorySegment,
  PromptTemplate,
  UserSegment,
  ValueSegment,
} from './prompt-template.js';
import { type FreeValue, type FreeValuePlace, slotText, userText } from './slot-value.js';
import { TextTokens } from './text-tokens.js';
import type { Tokenizer } from './tokenizer.js';

export interface PromptInput {
  /** Absent: segments of the user are left out. */
  readonly userId?: string | undefined;
  readonly profile: Readonly<Record<string, string>>;
  readonly scene: Readonly<Record<string, string>>;
  /** Oldest first. */
  readonly history: readonly PromptItem[];
}

export interface Prompt {
  readonly tokens: Int32Array;
  /** Items of the history that the prompt shows. */
  readonly historyItems: number;
  /** Oldest items left out so that the prompt fits or a segment keeps its maxItems. */
  readonly trimmedItems: number;
  /** First tokens that every prompt of the template begins with. */
  readonly prefixTokens: number;
  /**
   * First tokens that a later prompt of the user begins with as well, as long as nothing is
   * trimmed: through the last item of the history, before anything of the scene.
   */
  readonly keepTokens: number;
  /** Items of the history that the prompt shows, in its order. */
  readonly shown: readonly ShownItem[];
}

/** An item of the history in the prompt. */
export interface ShownItem {
  /** Its place in the history that was given. */
  readonly place: number;
  /** Tokens of the prompt through its SID: those since the item before it are what it takes. */
  readonly endToken: number;
}

/** A part of the prompt: text, a value that the request chose, or the SID of an item. */
type Piece = string | FreeValue | readonly number[];

interface Pieces {
  readonly pieces: readonly Piece[];
  /** Index of the first piece of the scene; their number where there is none. */
  readonly sceneAt: number;
  /** Place in the history of each SID among the pieces. */
  readonly places: readonly number[];
}

interface Rendered {
  readonly tokens: readonly number[];
  readonly keepTokens: number;
  readonly shown: readonly ShownItem[];
}

/**
 * A template bound to a tokenizer and to the level sizes of a catalogue. Level tokens are written
 * by their ids; the text between them goes through the tokenizer once and is cached.
 */
export class CompiledTemplate {
  readonly levelTokens: LevelTokens;
  /** SHA-256 over template and tokenizer, hexadecimal: equal digests give equal tokens. */
  readonly digest: string;
  /** SHA-256 over how codes are written: equal digests give equal tokens to equal SIDs. */
  readonly codebookDigest: string;
  private readonly text: TextTokens;
  private readonly leadingText: string;
  /** Made when it is needed first. */
  private levelIds: ReadonlySet<number> | undefined;

  /** @throws TesseraError PROMPT_TEMPLATE_INVALID or TOKENIZER_INVALID */
  constructor(
    readonly template: PromptTemplate,
    private readonly tokenizer: Tokenizer,
    levelSizes: readonly number[],
  ) {
    this.levelTokens = levelTokens(template, tokenizer, levelSizes);
    const isReserved = (token: AddedToken) => this.isReserved(token);
    this.text = new TextTokens(tokenizer, this.anchorText(), isReserved);
    for (const segment of template.segments) {
      if (segment.kind === 'user') this.checkBins(segment);
    }
    const parts = `${template.digest} ${tokenizer.digest}`;
    this.digest = createHash('sha256').update(parts).digest('hex');
    const codebook = `${JSON.stringify(template.levels)} ${tokenizer.digest}`;
    this.codebookDigest = createHash('sha256').update(codebook).digest('hex');
    this.leadingText = leadingText(template);
  }

  /** True where every code of the SID has a token. */
  canWrite(sid: readonly number[]): boolean {
    return sid.every((code, level) => this.tokenOf(level, code) !== NO_TOKEN);
  }

  /**
   * The prompt's tokens. Where they would exceed the limit, the oldest items of the history are
   * dropped in the smallest multiple of trimStep that makes the prompt fit; where that would leave
   * none of them, as few as fit.
   * @param tokensMax what model and engine take; the template's own maxPromptTokens holds as well
   * @throws TesseraError REQUEST_INVALID naming the slot, or where no item of the history fits
   */
  render(input: PromptInput, tokensMax: number): Prompt {
    const limit = Math.min(tokensMax, this.template.promptTokensMax);
    const plan = planHistory(this.template, input.history);
    const count = plan.used.length;
    const step = this.template.trimStep;
    const render = (dropped: number) => this.tokensOf(this.pieces(input, plan, dropped));
    let { tokens, keepTokens, shown } = render(0);
    let dropped = 0;
    if (tokens.length > limit) {
      dropped = this.droppedToFit(render, { count, step, limit });
      if (dropped >= count) dropped = this.droppedToFit(render, { count, step: 1, limit });
      ({ tokens, keepTokens, shown } = render(dropped));
    }
    if (tokens.length > limit || (count > 0 && dropped >= count)) {
      refuseLength(tokens.length, limit, count);
    }
    const historyItems = count - dropped;
    const leading = this.text.encode(this.leadingText, { left: false, right: false });
    const prefixTokens = commonLength(leading, tokens);
    return {
      prefixTokens,
      keepTokens: Math.max(keepTokens, prefixTokens),
      tokens: Int32Array.from(tokens),
      historyItems,
      trimmedItems: plan.matchedCount - historyItems,
      shown,
    };
  }

  /** Smallest multiple of the step that fits, or that drops all: more never makes it longer. */
  private droppedToFit(
    render: (dropped: number) => Rendered,
    { count, step, limit }: Readonly<Record<'count' | 'step' | 'limit', number>>,
  ): number {
    let high = Math.ceil(count / step);
    let low = Math.min(1, high);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (render(middle * step).tokens.length <= limit) high = middle;
      else low = middle + 1;
    }
    return low * step;
  }

  private pieces(input: PromptInput, plan: HistoryPlan, dropped: number): Pieces {
    const oldest = dropped < plan.used.length ? (plan.used[dropped] ?? 0) : input.history.length;
    const pieces: Piece[] = [];
    const places: number[] = [];
    let sceneAt: number | undefined;
    for (const segment of this.template.segments) {
      if (segment.kind === 'scene') sceneAt ??= pieces.length;
      if (segment.kind === 'text') {
        pieces.push(segment.text);
      } else if (segment.kind === 'history') {
        const indices = plan.shown.get(segment)?.filter((index) => index >= oldest) ?? [];
        const items = indices.map((index) => input.history[index] as PromptItem);
        for (const index of indices) places.push(index);
        pieces.push(...this.historyPieces(segment, items));
      } else if (segment.kind === 'user') {
        if (input.userId !== undefined) pieces.push(userText(segment, input.userId));
      } else {
        pieces.push(...this.valuePieces(segment, input));
      }
    }
    pieces.push(this.template.answerPrefix);
    return { pieces, sceneAt: sceneAt ?? pieces.length, places };
  }

  /** @throws TesseraError PROMPT_TEMPLATE_INVALID where the first or the last bin has no token */
  private checkBins({ bins, before, after }: UserSegment): void {
    for (const bin of [0, bins - 1]) {
      const text = `${before}${bin}${after}`;
      const [token] = this.tokenizer.addedTokensIn(text);
      if (token?.start === 0 && token.end === text.length) continue;
      throw new TesseraError(
        'PROMPT_TEMPLATE_INVALID',
        `prompt.json: segments: expected the tokenizer's added token '${text}' of a bin, got none`,
      );
    }
  }

  private valuePieces(segment: ValueSegment, input: PromptInput): Piece[] {
    const text = slotText(segment, input[segment.kind], this.tokenizer);
    return text === undefined ? [] : [segment.before, text, segment.after];
  }

  private historyPieces(segment: HistorySegment, items: readonly PromptItem[]): Piece[] {
    if (items.length === 0) return [];
    const { itemPrefix, itemSuffix } = this.template;
    const pieces: Piece[] = [segment.before];
    items.forEach((item, index) => {
      const before = items[index - 1];
      if (before !== undefined) {
        pieces.push(segment.separator, gapText(segment.timeGaps ?? [], before, item));
      }
      pieces.push(actionText(segment, item.action));
      pieces.push(affixText(itemPrefix, item.domain), item.sid, affixText(itemSuffix, item.domain));
    });
    pieces.push(segment.after);
    return pieces;
  }

  private tokensOf({ pieces, sceneAt, places }: Pieces): Rendered {
    const tokens: number[] = [];
    const shown: ShownItem[] = [];
    let text = '';
    let values: FreeValuePlace[] = [];
    let left = false;
    let keepTokens = 0;
    pieces.forEach((piece, index) => {
      if (typeof piece === 'string') {
        text += piece;
        return;
      }
      if ('text' in piece) {
        const { field, text: value } = piece;
        values.push({ field, text: value, start: text.length, end: text.length + value.length });
        text += value;
        return;
      }
      for (const id of this.text.encode(text, { left, right: true }, values)) tokens.push(id);
      values = [];
      piece.forEach((code, level) => {
        tokens.push(this.tokenOf(level, code));
      });
      text = '';
      left = true;
      if (index < sceneAt) keepTokens = tokens.length;
      shown.push({ place: places[shown.length] ?? 0, endToken: tokens.length });
    });
    for (const id of this.text.encode(text, { left, right: false }, values)) tokens.push(id);
    return { tokens, keepTokens, shown };
  }

  /** Tokens that control the model, write a code or end an answer: no value may make them. */
  private isReserved({ special, id }: AddedToken): boolean {
    this.levelIds ??= new Set(this.levelTokens.levels.flatMap((ids) => [...ids]));
    return special || this.levelIds.has(id) || this.levelTokens.terminal.includes(id);
  }

  private tokenOf(level: number, code: number): number {
    return this.levelTokens.levels[level]?.[code] ?? NO_TOKEN;
  }

  /** Text of some token of the first level, '' where levels are written by ids. */
  private anchorText(): string {
    const form = this.template.levels[0];
    const code = this.levelTokens.levels[0]?.findIndex((id) => id !== NO_TOKEN) ?? -1;
    return form?.kind === 'pattern' && code >= 0 ? levelTokenText(form.pattern, code) : '';
  }
}

/** Text segments that stand before every slot. */
function leadingText({ segments }: PromptTemplate): string {
  const slot = segments.findIndex((segment) => segment.kind !== 'text');
  const texts = slot === -1 ? segments : segments.slice(0, slot);
  return texts.map((segment) => (segment.kind === 'text' ? segment.text : '')).join('');
}

function commonLength(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

function actionText({ actionTexts }: HistorySegment, action: string): string {
  return actionTexts?.get(action) ?? actionTexts?.get('*') ?? '';
}

function affixText(affix: Affix, domain: string): string {
  return typeof affix === 'string' ? affix : (affix.get(domain) ?? '');
}

function refuseLength(length: number, limit: number, items: number): never {
  const what = items > 0 ? 'with at least one item of the history' : 'without a history';
  throw new TesseraError(
    'REQUEST_INVALID',
    `prompt: expected at most ${limit} tokens ${what}, got ${length} without any item`,
    { field: 'prompt' },
  );
}
