import { join } from 'node:path';
import { expecting } from '@tessera/errors';
import { TextPrompts } from '../domain/text-prompts.js';
import { type Members, membersOf, readJson, readMembers } from './folder-json.js';

const invalid = expecting('MODEL_INVALID');

const MODEL_FILE = 'config_sentence_transformers.json';
/** Fields that change no vector of a text. */
const HARMLESS = ['__version__', 'similarity_fn_name', 'requirements', 'keep_in_fp32_modules'];
const MODEL_FIELDS = ['prompts', 'default_prompt_name', 'model_type', 'truncate_dim'];

/** Settings of SentenceTransformers for the texts and vectors of a model. */
export interface SentenceSettings {
  readonly prompts: TextPrompts;
  /** Numbers of a vector; undefined: all. */
  readonly truncateDim: number | undefined;
  /** Class of sentence-transformers that saved the folder; undefined: not said. */
  readonly modelType: string | undefined;
  /** Function applied to a reranker's logit, by its name in PyTorch; undefined: not said. */
  readonly activation: unknown;
}

/**
 * Reads config_sentence_transformers.json; a field that is not known is refused.
 * @throws TesseraError MODEL_INVALID, TOKENIZER_INVALID naming file and field
 */
export async function readSentenceSettings(
  folder: string,
  hasModules: boolean,
): Promise<SentenceSettings> {
  const path = join(folder, MODEL_FILE);
  const members = (await readMembers(path)) ?? {};
  if (!hasModules) refuseSettings(members, path);
  refuseOthers(members, path, [...HARMLESS, ...MODEL_FIELDS, 'activation_fn']);
  const { truncate_dim: dimension, model_type: type } = members;
  const isWhole = typeof dimension === 'number' && Number.isInteger(dimension) && dimension > 0;
  if (given(dimension) !== undefined && !isWhole) {
    throw invalid(`${path}: truncate_dim`, 'a whole number above 0', dimension);
  }
  return {
    prompts: promptsOf(members, path),
    truncateDim: isWhole ? dimension : undefined,
    modelType: typeof type === 'string' ? type : undefined,
    activation: given(members.activation_fn),
  };
}

const given = (value: unknown) => value ?? undefined;

/** sentence-transformers reads the file with modules.json alone: it is not known what was meant. */
function refuseSettings(members: Members, path: string): void {
  const field = ['default_prompt_name', 'truncate_dim', 'activation_fn'].find(
    (name) => given(members[name]) !== undefined,
  );
  if (field === undefined) return;
  throw invalid(`${path}: ${field}`, 'none without modules.json', members[field]);
}

function refuseOthers(members: Members, path: string, known: readonly string[]): void {
  const other = Object.keys(members).find((name) => !known.includes(name));
  if (other !== undefined) throw invalid(`${path}: ${other}`, 'no such field', members[other]);
}

function promptsOf(members: Members, path: string): TextPrompts {
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(membersOf(members.prompts ?? {}, `${path}: prompts`))) {
    // A name without a text is a place that the trainer left free.
    if (typeof text === 'string') texts.set(name, text);
    else if (text !== null) throw invalid(`${path}: prompts.${name}`, 'a text', text);
  }
  const name = given(members.default_prompt_name);
  if (name === undefined) return new TextPrompts(texts, '');
  if (typeof name === 'string' && texts.has(name)) return new TextPrompts(texts, name);
  throw invalid(`${path}: default_prompt_name`, `one of ${[...texts.keys()].join(', ')}`, name);
}

/** Files of the first module, in the order in which sentence-transformers looks for them. */
const MODULE_FILES = [
  'sentence_bert_config.json',
  'sentence_roberta_config.json',
  'sentence_distilbert_config.json',
  'sentence_camembert_config.json',
  'sentence_albert_config.json',
  'sentence_xlm-roberta_config.json',
  'sentence_xlnet_config.json',
];
/** Meaning of a Transformer module's fields; any other field is refused. */
const MODULE_FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  max_seq_length: () => true,
  do_lower_case: () => true,
  transformer_task: (value) => value === 'feature-extraction' || value === CLASSIFICATION,
  modality_config: (value) => Object.keys(Object(value)).join() === 'text',
  module_output_name: (value) => value === 'token_embeddings' || value === 'scores',
  unpad_inputs: () => true,
};
const CLASSIFICATION = 'sequence-classification';

/** Preparation of a text by the first module, before tokens. */
export interface ModuleSettings {
  readonly path: string;
  readonly isLowerCased: boolean;
  /** Tokens of a text; undefined: the tokenizer's. */
  readonly tokensMax: unknown;
}

/**
 * @returns undefined where the folder has no such file
 * @throws TesseraError MODEL_INVALID, TOKENIZER_INVALID naming file and field
 */
export async function readModuleSettings(folder: string): Promise<ModuleSettings | undefined> {
  for (const name of MODULE_FILES) {
    const path = join(folder, name);
    const members = await readMembers(path);
    if (members === undefined) continue;
    for (const [field, value] of Object.entries(members)) {
      if (isNothing(value) || MODULE_FIELDS[field]?.(value)) continue;
      const expected = field in MODULE_FIELDS ? 'what is done for texts' : 'no such field';
      throw invalid(`${path}: ${field}`, expected, value);
    }
    const { max_seq_length: tokensMax, do_lower_case: isLowerCased } = members;
    return { path, isLowerCased: isLowerCased === true, tokensMax: given(tokensMax) };
  }
  return undefined;
}

/** A field that is there and asks for nothing. */
function isNothing(value: unknown): boolean {
  if (value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/**
 * The folder of the encoder: that of the first module of modules.json, or the model's own.
 * @throws TesseraError TOKENIZER_INVALID naming the file
 */
export async function encoderFolder(
  folder: string,
): Promise<{ readonly path: string; readonly hasModules: boolean }> {
  const modules = await readJson(join(folder, 'modules.json'));
  const path: unknown = Array.isArray(modules) ? modules[0]?.path : undefined;
  // A path that leads out of the folder is refused where the modules are read.
  const own = typeof path === 'string' ? join(folder, path) : folder;
  return { path: own, hasModules: modules !== undefined };
}
