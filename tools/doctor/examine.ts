import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import { basename, join } from 'node:path';
import { loadBehaviourStore } from '@tessera/behaviour';
import { parseSource, prepareCatalogue } from '@tessera/catalogue';
import { EmbeddingModels } from '@tessera/embedding';
import { configNote, type EngineModel, NativeEngine, readModelShape } from '@tessera/engine';
import { expecting, TesseraError } from '@tessera/errors';
import { errorOfSystem, readRegular, refuseNoModel, textOf } from '@tessera/files';
import { loadTemplate, loadTokenizer, samplingNote } from '@tessera/prompt';
import {
  isCrossEncoder,
  isNamedCrossEncoder,
  loadRelevance,
  openCrossEncoder,
} from '@tessera/relevance';
import { isClicks, readClicks } from './clicks.js';

/** Texts that differ in every model that was trained. */
const PROBES = ['red shoes', 'a book of maps'];
/** Tokens from the middle of a vocabulary, where those of codes are. */
const LABELS = 4;
const PROBE = {
  adapter: undefined,
  siblingTokens: 0,
  scoreNorm: 'allowed',
  priority: 'normal',
  budgetUs: 60e6,
} as const;
const TRAINED = 'are the weights those of a trained model?';
const THREADS = 2;
const POSITIONS = 512;
const TEXTS = 64;
const CONFIG_BYTES_MAX = 4 << 20;
const KV_BYTES = 64 << 20;
const ADAPTER_BYTES = 1 << 30;
const ADAPTER_LIMITS = { rankMax: 128, normMax: 1e6 };
const TEXT_LIMITS = {
  threadCount: THREADS,
  tokensMax: POSITIONS,
  textsMax: TEXTS,
  timeTargetUs: 50_000,
  queueTextsMax: TEXTS,
  requestTextsMax: TEXTS,
  textBytesMax: 65_536,
};

export interface Examined {
  /** Description of the folder, and the verdict: would it be served? */
  readonly lines: readonly string[];
  readonly isServed: boolean;
}

/** Adds a line about what is examined. */
type Tell = (line: string | undefined) => void;

export interface ExamineOptions {
  /** Folder of the model of an adapter. */
  readonly base?: string | undefined;
  /** A Python with the trainer's packages; left out: that of .venv, or python3. */
  readonly python?: string | undefined;
}

/** Opens whatever lies at a path as a service would; clicks as the trainer would. */
export async function examine(path: string, options: ExamineOptions = {}): Promise<Examined> {
  const lines: string[] = [];
  const tell = (line: string | undefined) => {
    if (line !== undefined) lines.push(line);
  };
  try {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw expecting('IO_FAILED')(path, 'a file or folder', 'none');
    const isOf = found.isDirectory() && (await isBundle(path)) === false;
    await (isOf
      ? examineFolder(path, options.base, tell)
      : examineFile(path, options.python, tell));
    tell('served: yes');
    return { lines, isServed: true };
  } catch (error) {
    const { code, message } = errorOfSystem(error);
    tell(`served: no; ${code}: ${message}`);
    return { lines, isServed: false };
  }
}

async function isBundle(folder: string): Promise<boolean> {
  return !existsSync(join(folder, 'config.json')) && existsSync(join(folder, 'manifest.json'));
}

async function examineFolder(path: string, base: string | undefined, tell: Tell): Promise<void> {
  await refuseNoModel(path, 'MODEL_NOT_FOUND');
  const has = (name: string) => existsSync(join(path, name));
  if (has('adapter_config.json') && !has('config.json')) return examineAdapter(path, base, tell);
  if (has('prompt.json')) return examineRecall(path, tell);
  await refuseUnimported(path);
  if (await isCrossEncoder(path)) {
    try {
      return await examineReranker(path, tell);
    } catch (error) {
      // embedding.models takes modules of any task.
      if (!has('modules.json') || (await isNamedCrossEncoder(path))) throw error;
      const told: (string | undefined)[] = [];
      const dimension = await examineEmbedder(path, (line) => told.push(line));
      // One number for a text is a classifier's: no vector to search by.
      if (dimension === 1) throw error;
      tell(`relevance.path would refuse it: ${TesseraError.from(error).message}`);
      for (const line of told) tell(line);
      return;
    }
  }
  if (has('relevance.json')) return examineJudge(path, tell);
  await examineEmbedder(path, tell);
}

async function examineRecall(path: string, tell: Tell): Promise<void> {
  const { family, parameterCount, maxPositions } = readModelShape(path);
  tell(`recall model: ${family}, ${parameterCount} parameters, ${maxPositions} positions`);
  tell(await configNote(path));
  tell(await samplingNote(path));
  const template = await loadTemplate(path);
  await loadTokenizer(path);
  tell(`template ${template.name} of ${template.levels.length} levels`);
  const engine = await openEngine(path, 0);
  try {
    const { digest, computeType, kvBytesPerPosition, stateBytes } = engine.model;
    tell(`weights ${digest}`);
    const state = stateBytes > 0 ? `, ${stateBytes} of a prompt's state` : '';
    tell(`memory in ${computeType}: ${kvBytesPerPosition} bytes of a token${state}`);
    const probe = probeOf(engine.model);
    const [odds = []] = (await Promise.all(engine.relevance([probe]))).map(({ logits }) => logits);
    if (odds.every((one) => one === odds[0])) tell(`all tokens are as likely: ${TRAINED}`);
  } finally {
    await engine.close();
  }
}

/** A prompt behind which no trained model finds some tokens as likely as others. */
function probeOf({ encoderLayerCount, startToken, vocabSize }: EngineModel) {
  const encoded = startToken === 0 ? 1 : 0;
  const prompt = encoderLayerCount > 0 ? [encoded, startToken] : [0];
  const first = Math.min(vocabSize >> 1, vocabSize - LABELS);
  const labelTokens = Int32Array.from({ length: LABELS }, (_, at) => first + at);
  return { ...PROBE, promptTokens: Int32Array.from(prompt), labelTokens };
}

/** The folder or file of an encoder-decoder that another library has trained. */
async function refuseUnimported(path: string): Promise<void> {
  const text = await readFile(join(path, 'config.json'), 'utf8').catch(() => '{}');
  const isT5 = /"model_type":\s*"t5"/.test(text);
  const names = [
    ...(await readdir(path)),
    ...(await readdir(join(path, 'checkpoints')).catch(() => [])),
  ];
  if (!isT5 && !names.some((name) => name.endsWith('.ckpt'))) return;
  throw expecting('MODEL_INVALID')(
    path,
    'a folder that `python -m trainer import` has made of it (docs/integrate/tiger.md)',
    isT5 ? 'a T5 without prompt.json' : 'a checkpoint of Lightning',
  );
}

async function examineJudge(path: string, tell: Tell): Promise<void> {
  const { family, parameterCount } = readModelShape(path);
  tell(`relevance by a language model: ${family}, ${parameterCount} parameters`);
  tell(await configNote(path));
  const { template } = await loadRelevance(path);
  tell(`template ${template.name}`);
  await (await openEngine(path, 0)).close();
}

async function examineReranker(path: string, tell: Tell): Promise<void> {
  tell('relevance by a classifier of pairs (cross-encoder)');
  const options = { computeType: 'f32', documentsMax: TEXTS, pairTokensMax: POSITIONS } as const;
  const { notes, close } = await openCrossEncoder(path, Object.assign({}, TEXT_LIMITS, options));
  close();
  for (const note of notes) tell(note);
}

/** Resolves with the numbers of a vector. */
async function examineEmbedder(path: string, tell: Tell): Promise<number> {
  tell('embedding model (one of recalls has prompt.json; one that judges relevance.json,');
  tell('or the tokens of Qwen3-Reranker: relevance.path takes it as it is)');
  const specs = [{ name: basename(path) || 'model', path }];
  const models = await EmbeddingModels.open({ specs, computeType: 'f32', limits: TEXT_LIMITS });
  try {
    const { vectors } = await models.embed({ model: '', texts: PROBES, dimensions: undefined });
    const isOne = vectors.every((vector) => `${vector}` === `${vectors[0]}`);
    if (isOne) tell(`all texts have one vector: ${TRAINED}`);
  } finally {
    models.close();
  }
  for (const { dimension } of models.facts) tell(`vectors of ${dimension} numbers`);
  for (const note of models.notes) tell(note);
  return models.facts[0]?.dimension ?? 0;
}

async function examineAdapter(path: string, base: string | undefined, tell: Tell): Promise<void> {
  const { peft_type: type, base_model_name_or_path: of } = await adapterConfig(path);
  tell(`adapter: ${type}, of ${of ?? 'a model that it does not name'}`);
  if (base === undefined) {
    throw expecting('ADAPTER_INVALID')('--base', 'the folder of its model', undefined);
  }
  const engine = await openEngine(base, ADAPTER_BYTES);
  try {
    const { rankMax, targetCount, replacedRows } = await engine.loadAdapter(path, ADAPTER_LIMITS);
    tell(`rank ${rankMax}, ${targetCount} matrices with factors, ${replacedRows} rows replaced`);
  } finally {
    await engine.close();
  }
}

async function adapterConfig(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const path = join(folder, 'adapter_config.json');
  const text = textOf(path, await readRegular(path, CONFIG_BYTES_MAX), 'ADAPTER_INVALID');
  try {
    return Object(JSON.parse(text));
  } catch (error) {
    throw expecting('ADAPTER_INVALID')(path, 'JSON', (error as Error).message, error);
  }
}

async function examineFile(path: string, python: string | undefined, tell: Tell): Promise<void> {
  if (await isClicks(path)) {
    for (const line of await readClicks(path, python)) tell(line);
    return;
  }
  const cacheDir = await mkdtemp(join(os.tmpdir(), 'tessera-doctor-'));
  try {
    const { catalogue } = await prepareCatalogue({
      sources: [parseSource(path)],
      titlesPath: '',
      cacheDir,
      onProgress: () => undefined,
    });
    const { itemCount, pathCount, levelSizes } = catalogue.summary;
    catalogue.close();
    const shape = `levels of ${levelSizes.join(', ')} codes`;
    tell(`catalogue: ${itemCount} items in ${pathCount} semantic IDs, ${shape}`);
  } catch (error) {
    const users = await loadBehaviourStore(path).catch(() => undefined);
    if (users === undefined) throw error;
    tell(`behaviours of ${(await users.userIds(Number.MAX_SAFE_INTEGER)).length} users`);
  } finally {
    await rm(cacheDir, { recursive: true, force: true });
  }
}

/** In BF16, the type that most weights are saved in. */
function openEngine(modelPath: string, adapterBytesMax: number): Promise<NativeEngine> {
  return NativeEngine.open({
    modelPath,
    computeType: 'bf16',
    activationScalesPath: '',
    threadCount: THREADS,
    queueCapacity: 1,
    batchRequestsMax: 1,
    batchRowsMax: POSITIONS,
    prefillChunkTokens: POSITIONS,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: KV_BYTES,
    promptTokensMax: 2,
    widthMax: 1,
    resultCountMax: 1,
    scoreItemsMax: 1,
    adapterBytesMax,
  });
}
