import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddingModel, type ModelLimits, readTextFolder } from '@tessera/embedding';
import { expecting } from '@tessera/errors';
import { type Activation, CrossRelevance } from '../domain/cross-relevance.js';
import { PairTokenMaker } from '../domain/pair-tokens.js';

const FILE = 'config.json';
const CLASSIFIER = 'ForSequenceClassification';
/** As sentence-transformers saves what becomes of a logit (CrossEncoder, activation_fn). */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  'torch.nn.modules.activation.Sigmoid': 'sigmoid',
  'torch.nn.modules.linear.Identity': 'identity',
};

const invalid = expecting('MODEL_INVALID');

interface ModelConfig {
  readonly architectures?: readonly unknown[];
  readonly sentence_transformers?: { readonly activation_fn?: unknown };
}

/** Undefined where there is no such file, or it is no JSON: who opens the model says so. */
async function readConfig(folder: string): Promise<ModelConfig | undefined> {
  try {
    return Object(JSON.parse(await readFile(join(folder, FILE), 'utf8'))) as ModelConfig;
  } catch {
    return undefined;
  }
}

/** Whether a folder is that of a classifier, which reads query and document as one pair. */
export async function isCrossEncoder(folder: string): Promise<boolean> {
  const [architecture] = (await readConfig(folder))?.architectures ?? [];
  return typeof architecture === 'string' && architecture.endsWith(CLASSIFIER);
}

export interface CrossEncoderOptions extends ModelLimits {
  readonly computeType: 'f32' | 'bf16' | 'w8a8';
  readonly documentsMax: number;
  /** Tokens of a pair at most. */
  readonly pairTokensMax: number;
}

export interface OpenedCrossEncoder {
  readonly relevance: CrossRelevance;
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
  const activation = activationOf(await readConfig(folder), folder);
  const { tokenizer, tokensMax } = await readTextFolder(folder);
  const { computeType, documentsMax, pairTokensMax } = options;
  const { model, info } = await EmbeddingModel.open({ modelPath: folder, computeType }, options);
  try {
    if (info.dimension !== 1) {
      throw invalid(join(folder, FILE), 'a classifier of one label', info.dimension);
    }
    const most = Math.min(pairTokensMax, tokensMax, info.tokensMax);
    const maker = await PairTokenMaker.of(tokenizer, most);
    const encoder = {
      digest: info.digest,
      rates: () => model.rates(),
      logits: (pairs: Parameters<EmbeddingModel['vectorsOf']>[0], call: Call) =>
        model.vectorsOf(pairs, call),
    };
    const relevance = new CrossRelevance({ encoder, maker, activation, documentsMax });
    return { relevance, close: () => model.close() };
  } catch (error) {
    model.close();
    throw error;
  }
}

type Call = NonNullable<Parameters<EmbeddingModel['vectorsOf']>[1]>;

function activationOf(config: ModelConfig | undefined, folder: string): Activation {
  const name = config?.sentence_transformers?.activation_fn ?? undefined;
  if (name === undefined) return 'sigmoid';
  const known = typeof name === 'string' ? ACTIVATIONS[name] : undefined;
  if (known !== undefined) return known;
  const field = `${join(folder, FILE)}: sentence_transformers.activation_fn`;
  throw invalid(field, 'Sigmoid or Identity of torch', name);
}
