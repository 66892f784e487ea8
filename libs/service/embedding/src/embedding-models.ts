import type { TextComputeType } from '@tessera/engine';
import { expecting, type TesseraError } from '@tessera/errors';
import type { ModelSpec } from './domain/model-specs.js';
import { checkDimensions, shorten } from './domain/shorten.js';
import {
  type EmbeddingCall,
  type EmbeddingCounts,
  EmbeddingModel,
  type ModelLimits,
} from './embedding-model.js';

const invalid = expecting('REQUEST_INVALID');

export interface EmbeddingLimits extends ModelLimits {
  /** Maximum texts of a request. */
  readonly requestTextsMax: number;
  /** UTF-8 bytes of a text. */
  readonly textBytesMax: number;
}

export type TextLimits = Pick<EmbeddingLimits, 'requestTextsMax' | 'textBytesMax'>;

export interface EmbeddingOptions {
  readonly specs: readonly ModelSpec[];
  readonly computeType: TextComputeType;
  readonly limits: EmbeddingLimits;
}

export interface EmbeddingRequest {
  /** Name of a model; '' for the first. */
  readonly model: string;
  readonly texts: readonly string[];
  /** Dimensions of the vectors; undefined: all. */
  readonly dimensions: number | undefined;
  /** Name of one of the model's prompts; left out: its default, if it has one. */
  readonly promptName?: string | undefined;
}

export interface EmbeddingAnswer {
  readonly model: string;
  readonly modelDigest: string;
  readonly dimensions: number;
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
  readonly truncated: number;
}

/** Why one text of a request has no vector. */
export interface TextFailure {
  readonly index: number;
  readonly error: TesseraError;
}

/** An answer in which texts may have failed. */
export interface EachAnswer extends Omit<EmbeddingAnswer, 'vectors'> {
  /** Undefined: the text failed. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** In the order of the texts. */
  readonly failures: readonly TextFailure[];
}

/** State of a model for others. */
export interface ModelState extends Readonly<EmbeddingCounts> {
  readonly model: string;
  /** Texts that wait. */
  readonly depth: number;
}

export interface ModelFacts {
  readonly name: string;
  /** Digest of configuration, weights and head. */
  readonly digest: string;
  /** Digest of what decides the tokens of a text: its tokenizer, and how many are used. */
  readonly tokensDigest: string;
  /** Numbers of a vector. */
  readonly dimension: number;
}

interface NamedModel {
  readonly name: string;
  readonly digest: string;
  readonly tokensDigest: string;
  readonly model: EmbeddingModel;
  readonly notes: readonly string[];
}

/** Classes of sentence-transformers whose folders give a vector of a text. */
const VECTOR_TYPES = ['SentenceTransformer', 'CrossEncoder'];

function checkModelType(path: string, type = 'SentenceTransformer'): void {
  if (VECTOR_TYPES.includes(type)) return;
  const field = `${path}: config_sentence_transformers.json: model_type`;
  throw expecting('MODEL_INVALID')(field, `one of ${VECTOR_TYPES.join(', ')}`, type);
}

/** The models of texts of this process, by name; there may be none. */
export class EmbeddingModels {
  private constructor(
    private readonly models: readonly NamedModel[],
    readonly limits: TextLimits,
    /** Type in which products of all models are computed. */
    readonly computeType: string,
  ) {}

  /** @throws TesseraError MODEL_*, TOKENIZER_INVALID, ENGINE_OVERLOADED */
  static async open({ specs, computeType, limits }: EmbeddingOptions): Promise<EmbeddingModels> {
    const models: NamedModel[] = [];
    try {
      for (const { name, path } of specs) {
        const opened = await EmbeddingModel.open({ modelPath: path, computeType }, limits);
        const { model, info, tokensDigest, folder } = opened;
        checkModelType(path, folder.sentence.modelType);
        models.push({ name, digest: info.digest, tokensDigest, model, notes: folder.notes });
      }
    } catch (error) {
      for (const { model } of models) model.close();
      throw error;
    }
    return new EmbeddingModels(models, limits, computeType);
  }

  static ofNone(): EmbeddingModels {
    return new EmbeddingModels([], { requestTextsMax: 0, textBytesMax: 0 }, 'f32');
  }

  /** The models by name: what their vectors are known by, and how many numbers these have. */
  get facts(): readonly ModelFacts[] {
    return this.models.map(({ name, digest, tokensDigest, model: { dimension } }) => ({
      name,
      digest,
      tokensDigest,
      dimension,
    }));
  }

  /** Lines for people: prompts that models have, and what other libraries would do otherwise. */
  get notes(): readonly string[] {
    return this.models.flatMap(({ name, model: { prompts }, notes }) =>
      [...(prompts.note === undefined ? [] : [prompts.note]), ...notes].map(
        (line) => `embedding model ${name}: ${line}`,
      ),
    );
  }

  states(): ModelState[] {
    return this.models.map(({ name, model }) =>
      Object.assign({ model: name, depth: model.depth }, model.counts),
    );
  }

  /** Microseconds until the model with the shortest queue begins a text that comes now. */
  backlogUs(): number {
    const waits = this.models.map(({ model }) => model.rates().backlogUs);
    return waits.length === 0 ? 0 : Math.min(...waits);
  }

  /**
   * A vector per text, in their order.
   * @throws TesseraError REQUEST_INVALID with the field; ENGINE_OVERLOADED; CANCELLED;
   * DEADLINE_EXCEEDED; MODEL_NOT_FINITE
   */
  async embed(request: EmbeddingRequest, call?: EmbeddingCall): Promise<EmbeddingAnswer> {
    this.named(request.model);
    this.checkCount(request.texts);
    for (const [index, text] of request.texts.entries()) {
      const failure = this.failureOf(text, index);
      if (failure !== undefined) throw failure.error;
    }
    return this.embedChecked(request, call);
  }

  /** Vectors of texts that can have some; there may be none. */
  private async embedChecked(
    request: EmbeddingRequest,
    call: EmbeddingCall | undefined,
  ): Promise<EmbeddingAnswer> {
    const { name, digest, model } = this.named(request.model);
    const { texts, dimensions } = request;
    checkDimensions(dimensions, model.dimension);
    const prompt = model.prompts.textOf(request.promptName);
    const { vectors, tokens, truncated } = await model.embed(
      prompt === '' ? texts : texts.map((text) => prompt + text),
      call,
    );
    return {
      model: name,
      modelDigest: digest,
      dimensions: dimensions ?? model.dimension,
      vectors: vectors.map((vector) => shorten(vector, dimensions, model.isNormalised)),
      tokens,
      truncated,
    };
  }

  /**
   * Embeds texts; a text that can have no vector fails for itself.
   * @throws TesseraError as embed(), but for such texts
   */
  async embedEach(request: EmbeddingRequest, call?: EmbeddingCall): Promise<EachAnswer> {
    const { texts } = request;
    this.named(request.model);
    this.checkCount(texts);
    const failures = texts.flatMap((text, index) => this.failureOf(text, index) ?? []);
    const failed = new Set(failures.map(({ index }) => index));
    const left = texts.filter((_, index) => !failed.has(index));
    const answer = await this.embedChecked(Object.assign({}, request, { texts: left }), call);
    const made = answer.vectors[Symbol.iterator]();
    const vectors = texts.map((_, index) => (failed.has(index) ? undefined : made.next().value));
    return Object.assign({}, answer, { vectors, failures });
  }

  close(): void {
    for (const { model } of this.models) model.close();
  }

  private named(name: string): NamedModel {
    const found = name === '' ? this.models[0] : this.models.find((model) => model.name === name);
    if (found !== undefined) return found;
    const names = this.models.map((model) => model.name).join(', ');
    const expected = names === '' ? 'none: embedding.models names no model' : `one of ${names}`;
    throw invalid('model', expected, name);
  }

  private checkCount({ length }: readonly string[]): void {
    const { requestTextsMax } = this.limits;
    if (length >= 1 && length <= requestTextsMax) return;
    throw invalid('texts', `1..${requestTextsMax} texts`, length);
  }

  private failureOf(text: string, index: number): TextFailure | undefined {
    const problem = this.problemOf(text);
    if (problem === undefined) return undefined;
    return { index, error: invalid(`texts[${index}]`, problem.expected, problem.got) };
  }

  /** Why a text cannot become a vector; undefined where it can. */
  problemOf(text: string): { readonly expected: string; readonly got: unknown } | undefined {
    if (text.trim() === '') return { expected: 'a text that is not empty', got: text };
    const { textBytesMax } = this.limits;
    const bytes = Buffer.byteLength(text);
    return bytes > textBytesMax
      ? { expected: `at most ${textBytesMax} bytes`, got: bytes }
      : undefined;
  }
}

/** Models of a process without any: every request is refused. */
export const NO_MODELS = EmbeddingModels.ofNone();
