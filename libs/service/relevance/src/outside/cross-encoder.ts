import { join } from 'node:path';
import { EmbeddingModel, type ModelLimits, type TextFolder } from '@tessera/embedding';
import { expecting } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { type Activation, CrossRelevance } from '../domain/cross-relevance.js';
import { PairTokenMaker } from '../domain/pair-tokens.js';

const FILE_BYTES_MAX = 16 << 20;

const FILE = 'config.json';
const MODEL_FILE = 'config_sentence_transformers.json';
const CLASSIFIER = 'ForSequenceClassification';
/** Functions on a logit, as sentence-transformers spells them (CrossEncoder, activation_fn). */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  'torch.nn.modules.activation.Sigmoid': 'sigmoid',
  'torch.nn.modules.activation.Tanh': 'tanh',
  'torch.nn.modules.linear.Identity': 'identity',
  'torch.nn.Sigmoid': 'sigmoid',
  'torch.nn.Tanh': 'tanh',
  'torch.nn.Identity': 'identity',
};

const invalid = expecting('MODEL_INVALID');

type Members = Readonly<Record<string, unknown>>;

/** Empty where there is no such file, or it is no JSON: who opens the model says so. */
async function readObject(path: string): Promise<Members> {
  const bytes = await readRegular(path, FILE_BYTES_MAX).catch(() => Buffer.from('{}'));
  const text = textOf(path, bytes, 'MODEL_NOT_FOUND');
  try {
    return Object(JSON.parse(text)) as Members;
  } catch {
    return {};
  }
}

/**
 * True if a folder is that of a classifier, which reads query and document as one pair: one of
 * transformers, or modules that sentence-transformers put together. One of its language models that
 * judge (LogitScore) is none.
 * @throws TesseraError MODEL_NOT_FOUND where a file is another kind of file
 */
export async function isCrossEncoder(folder: string): Promise<boolean> {
  const architectures = [(await readObject(join(folder, FILE))).architectures].flat();
  if (architectures.some((name) => String(name).endsWith(CLASSIFIER))) return true;
  return isNamedCrossEncoder(folder);
}

/** True if it says so itself: then it is no embedding model, whatever else it has. */
export async function isNamedCrossEncoder(folder: string): Promise<boolean> {
  const { model_type: type } = await readObject(join(folder, MODEL_FILE));
  const modules = Object.values(await readObject(join(folder, 'modules.json')));
  const isJudge = modules.some((of) => String(Object(of).type).endsWith('.LogitScore'));
  return type === 'CrossEncoder' && modules.length > 0 && !isJudge;
}

export interface CrossEncoderOptions extends ModelLimits {
  readonly computeType: 'f32' | 'bf16' | 'w8a8';
  readonly documentsMax: number;
  /** Tokens of a pair at most. */
  readonly pairTokensMax: number;
}

export interface OpenedCrossEncoder {
  readonly relevance: CrossRelevance;
  /** Lines for people: what other libraries would do otherwise. */
  readonly notes: readonly string[];
  close(): void;
}

/**
 * Opens a classifier of one label.
 * @throws TesseraError MODEL_*, TOKENIZER_INVALID, ENGINE_OVERLOADED
 */
export async function openCrossEncoder(
  folder: string,
  options: CrossEncoderOptions,
): Promise<OpenedCrossEncoder> {
  const { computeType, documentsMax, pairTokensMax } = options;
  const opened = await EmbeddingModel.open({ modelPath: folder, computeType }, options);
  const { model, info, folder: text } = opened;
  try {
    if (info.dimension !== 1) {
      throw invalid(join(folder, FILE), 'a classifier of one label', info.dimension);
    }
    const activation = activationOf(text, folder);
    refusePrompt(text, folder);
    const most = Math.min(pairTokensMax, text.tokensMax, info.tokensMax);
    const maker = await PairTokenMaker.of(text.tokenizer, most);
    refusePadding(text, maker, folder);
    const encoder = {
      digest: info.digest,
      rates: () => model.rates(),
      logits: (pairs: Parameters<EmbeddingModel['vectorsOf']>[0], call: Call) =>
        model.vectorsOf(pairs, call),
    };
    const relevance = new CrossRelevance({ encoder, maker, activation, documentsMax });
    return { relevance, notes: text.notes, close: () => model.close() };
  } catch (error) {
    model.close();
    throw error;
  }
}

type Call = NonNullable<Parameters<EmbeddingModel['vectorsOf']>[1]>;

/**
 * Activation as sentence-transformers names it: from 5 on, from 4 on, and before, in this order.
 */
function activationOf({ sentence, config }: TextFolder, folder: string): Activation {
  const { activation_fn: inConfig } = Object(config.sentence_transformers) as Members;
  const { sbert_ce_default_activation_function: before } = config;
  const places = [
    [`${MODEL_FILE}: activation_fn`, sentence.activation],
    [`${FILE}: sentence_transformers.activation_fn`, inConfig],
    [`${FILE}: sbert_ce_default_activation_function`, before],
  ] as const;
  const [field, name] = places.find(([, value]) => (value ?? undefined) !== undefined) ?? [];
  if (field === undefined) return 'sigmoid';
  const known = typeof name === 'string' ? ACTIVATIONS[name] : undefined;
  if (known !== undefined) return known;
  throw invalid(join(folder, field), 'Sigmoid, Tanh or Identity of torch.nn', name);
}

/** sentence-transformers would put it before the query. */
function refusePrompt({ sentence: { prompts } }: TextFolder, folder: string): void {
  if (prompts.defaultText === '') return;
  const field = `${join(folder, MODEL_FILE)}: default_prompt_name`;
  throw invalid(field, 'none for a classifier of pairs', prompts.defaultName);
}

/** The row of a decoder is that of the last token that is no padding. */
function refusePadding(text: TextFolder, maker: PairTokenMaker, folder: string): void {
  const { pad_token_id: padding } = text.config;
  if (!maker.isLast(padding)) return;
  throw invalid(`${join(folder, FILE)}: pad_token_id`, 'a token that ends no pair', padding);
}
