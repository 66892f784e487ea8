import { createHash } from 'node:crypto';
import { type EmbedderInfo, type EmbedderOptions, NativeEmbedder } from '@tessera/engine';
import { type Cancellation, TesseraError } from '@tessera/errors';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import pMap from 'p-map';
import { fillPass, type PassBounds } from './domain/fill-pass.js';
import { PassCost } from './domain/pass-cost.js';
import { TextPrompts } from './domain/text-prompts.js';
import { TEXTS_AT_ONCE, TextTokenMaker, type TextTokens } from './domain/text-tokens.js';
import { readTextFolder, type TextFolder } from './outside/text-folder.js';

/** Passes that a model has at the engine: one that computes, and one that follows it at once. */
const PASSES_AT_ONCE = 2;

export interface ModelLimits extends PassBounds {
  readonly threadCount: number;
  /** Texts that wait at most; a request that would make them more is refused. */
  readonly queueTextsMax: number;
}

/** How long a caller wants its texts to become vectors. */
export interface EmbeddingCall {
  readonly signal: Cancellation;
  /** End of the deadline by performance.now(). */
  readonly endsAtMs: number;
}

/** Vectors of texts, in their order. */
export interface TextVectors {
  readonly vectors: readonly Float32Array[];
  /** Tokens of all texts, as computed. */
  readonly tokens: number;
  /** Texts of which the last tokens were left out. */
  readonly truncated: number;
}

/** Counts of passes. */
export interface EmbeddingCounts {
  texts: number;
  tokens: number;
  truncated: number;
  passes: number;
  computeUs: number;
}

interface WaitingText extends TextTokens {
  readonly settle: (vector: Float32Array) => void;
  readonly fail: (error: unknown) => void;
  readonly call: EmbeddingCall | undefined;
}

type Passes = Pick<NativeEmbedder, 'embed' | 'close'> & {
  readonly info: Pick<EmbedderInfo, 'dimension' | 'rowWork' | 'pairWork' | 'isNormalised'>;
};

/** One model of texts: a queue of texts, and passes that predicted time fills. */
export class EmbeddingModel {
  readonly counts: EmbeddingCounts = {
    texts: 0,
    tokens: 0,
    truncated: 0,
    passes: 0,
    computeUs: 0,
  };
  private readonly waiting: WaitingText[] = [];
  private readonly cost: PassCost;
  private passes = 0;
  /** Texts that are being made into tokens. */
  private making = 0;

  constructor(
    private readonly embedder: Passes,
    private readonly maker: TextTokenMaker,
    private readonly limits: ModelLimits,
    private readonly own: ModelOwn = { prompts: TextPrompts.NONE, truncateDim: undefined },
  ) {
    const { rowWork: row, pairWork: pair } = embedder.info;
    this.cost = new PassCost({ row, pair });
  }

  /** @throws TesseraError MODEL_*, TOKENIZER_INVALID, ENGINE_OVERLOADED */
  static async open(
    model: Pick<EmbedderOptions, 'modelPath' | 'computeType'>,
    limits: ModelLimits,
  ): Promise<OpenedModel> {
    const folder = await readTextFolder(model.modelPath);
    const { prompts, truncateDim } = folder.sentence;
    const embedder = await NativeEmbedder.open({
      modelPath: model.modelPath,
      computeType: model.computeType,
      threadCount: limits.threadCount,
      rowsMax: limits.tokensMax,
      textsMax: limits.textsMax,
    });
    const most = Math.min(folder.tokensMax, embedder.info.tokensMax);
    const maker = await TextTokenMaker.of(folder.tokenizer, most);
    const before = prompts.defaultText === '' ? [] : [prompts.defaultText];
    const tokens = JSON.stringify([folder.tokenizerDigest, most, ...before]);
    const own = { prompts, truncateDim };
    return {
      model: new EmbeddingModel(embedder, maker, limits, own),
      folder: withWindowNote(folder, embedder.info.tokensMax),
      info: embedder.info,
      tokensDigest: createHash('sha256').update(tokens).digest('hex'),
    };
  }

  get dimension(): number {
    const { dimension } = this.embedder.info;
    return Math.min(dimension, this.own.truncateDim ?? dimension);
  }
  /** Its vectors have length 1; the first numbers of one have another. */
  get isNormalised(): boolean {
    const { dimension, isNormalised } = this.embedder.info;
    return isNormalised && this.dimension === dimension;
  }
  get prompts(): TextPrompts {
    return this.own.prompts;
  }
  /** Texts that wait for a pass. */
  get depth(): number {
    return this.waiting.length + this.making;
  }

  /**
   * A vector per text. Texts whose caller has gone, or whose time is over, are not computed.
   * @throws TesseraError ENGINE_OVERLOADED, CANCELLED, DEADLINE_EXCEEDED, MODEL_NOT_FINITE
   */
  async embed(texts: readonly string[], call?: EmbeddingCall): Promise<TextVectors> {
    this.checkRoom(texts.length);
    const made = await this.tokensOf(texts);
    const vectors = await Promise.all(made.map((text) => this.vectorOf(text, call)));
    return {
      vectors,
      tokens: made.reduce((sum, { tokens }) => sum + tokens.length, 0),
      truncated: made.filter(({ isTruncated }) => isTruncated).length,
    };
  }

  /** @throws TesseraError ENGINE_OVERLOADED */
  private checkRoom(count: number): void {
    const { queueTextsMax } = this.limits;
    if (this.depth + count <= queueTextsMax) return;
    const got = `${this.depth} and ${count} more`;
    throw new TesseraError(
      'ENGINE_OVERLOADED',
      `embedding: expected at most ${queueTextsMax} texts that wait, got ${got}`,
      // When what waits is predicted to be computed.
      { retryAfterMs: Math.ceil(this.rates().backlogUs / MICROSECONDS_PER_MILLISECOND) + 1 },
    );
  }

  /**
   * A vector per text that is made into tokens already, or why it has none.
   * @throws TesseraError ENGINE_OVERLOADED
   */
  vectorsOf(texts: readonly TextTokens[], call?: EmbeddingCall): readonly Promise<Float32Array>[] {
    this.checkRoom(texts.length);
    return texts.map((text) => this.vectorOf(text, call));
  }

  /** Predicted microseconds: of a token, and of all that waits. */
  rates(): { readonly tokenUs: number; readonly backlogUs: number } {
    const { rowWork } = this.embedder.info;
    const waiting = this.waiting.reduce((sum, of) => sum + this.cost.workOf(of.tokens.length), 0);
    return {
      tokenUs: this.cost.predictUs(rowWork),
      backlogUs: this.cost.predictUs(waiting),
    };
  }

  private async tokensOf(texts: readonly string[]): Promise<readonly TextTokens[]> {
    this.making += texts.length;
    try {
      const concurrency = TEXTS_AT_ONCE;
      return await pMap(texts, (text) => this.maker.tokensOf(text), { concurrency });
    } finally {
      this.making -= texts.length;
    }
  }

  close(): void {
    const closed = new TesseraError('ENGINE_CLOSED', 'embedding: the model was closed');
    for (const { fail } of this.waiting.splice(0)) fail(closed);
    this.embedder.close();
  }

  private vectorOf(text: TextTokens, call: EmbeddingCall | undefined): Promise<Float32Array> {
    const vector = new Promise<Float32Array>((settle, fail) => {
      this.waiting.push({ ...text, settle, fail, call });
    });
    // Texts of one call, and of calls that came with it, go together.
    if (this.waiting.length === 1) queueMicrotask(() => this.startPasses());
    return vector;
  }

  private startPasses(): void {
    this.dropEnded();
    while (this.waiting.length > 0 && this.passes < PASSES_AT_ONCE) void this.runPass();
  }

  private dropEnded(): void {
    const nowMs = performance.now();
    for (let i = this.waiting.length - 1; i >= 0; i--) {
      const { call, fail } = this.waiting[i] as WaitingText;
      if (call === undefined || (!call.signal.aborted && call.endsAtMs > nowMs)) continue;
      this.waiting.splice(i, 1);
      fail(
        call.signal.aborted
          ? new TesseraError('CANCELLED', 'embedding: the caller has gone')
          : new TesseraError('DEADLINE_EXCEEDED', 'embedding: the deadline passed in the queue'),
      );
    }
  }

  private async runPass(): Promise<void> {
    const { texts: count, work } = fillPass(this.waiting, this.cost, this.limits);
    const texts = this.waiting.splice(0, count);
    this.passes += 1;
    try {
      const { vectors, computeUs } = await this.embedder.embed(
        texts.map(({ tokens }) => tokens),
        secondsOf(texts),
      );
      this.note(texts, work, computeUs);
      const n = this.embedder.info.dimension;
      for (const [i, { settle }] of texts.entries()) {
        settle(vectors.slice(i * n, i * n + this.dimension));
      }
    } catch (error) {
      for (const { fail } of texts) fail(error);
    } finally {
      this.passes -= 1;
      this.startPasses();
    }
  }

  private note(texts: readonly WaitingText[], work: number, computeUs: number): void {
    this.cost.note(work, computeUs);
    const { counts } = this;
    counts.texts += texts.length;
    for (const { tokens, isTruncated } of texts) {
      counts.tokens += tokens.length;
      counts.truncated += isTruncated ? 1 : 0;
    }
    counts.passes += 1;
    counts.computeUs += computeUs;
  }
}

/** A window of attention limits the tokens of a text; within it both are the same attention. */
function withWindowNote(folder: TextFolder, tokensMax: number): TextFolder {
  if (folder.config.sliding_window !== tokensMax) return folder;
  const note = `config.json: sliding_window: texts end at ${tokensMax} tokens, its length`;
  return Object.assign({}, folder, { notes: [...folder.notes, note] });
}

/** Beginnings of second segments; empty where no text has one. */
function secondsOf(texts: readonly TextTokens[]): readonly number[] {
  if (texts.every(({ secondFrom }) => secondFrom === undefined)) return [];
  return texts.map(({ tokens, secondFrom = tokens.length }) => secondFrom);
}

/** Settings of a folder for its texts and vectors. */
interface ModelOwn {
  readonly prompts: TextPrompts;
  /** First numbers that a vector consists of; undefined: all. */
  readonly truncateDim: number | undefined;
}

export interface OpenedModel {
  readonly model: EmbeddingModel;
  readonly folder: TextFolder;
  readonly info: EmbedderInfo;
  /** SHA-256 of what decides the tokens of a text: its tokenizer, and how many are used. */
  readonly tokensDigest: string;
}
