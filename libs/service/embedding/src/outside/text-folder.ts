import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { configNote } from '@tessera/engine';
import { expecting } from '@tessera/errors';
import { refuseNoModel } from '@tessera/files';
import type { TextTokenizer } from '../domain/text-tokens.js';
import { type Members, membersOf, parsed, readMembers, readText } from './folder-json.js';
import { rustTokenizer } from './rust-tokenizer.js';
import {
  encoderFolder,
  type ModuleSettings,
  readModuleSettings,
  readSentenceSettings,
  type SentenceSettings,
} from './sentence-settings.js';
import { checkTokenizerSettings } from './tokenizer-settings.js';

const TOKENIZER_FILE = 'tokenizer.json';
const TOKENIZER_BYTES_MAX = 128 << 20;

const invalid = expecting('TOKENIZER_INVALID');

export interface TextFolder {
  readonly tokenizer: TextTokenizer;
  /** Maximum tokens of a text, special ones included; Infinity where the folder says nothing. */
  readonly tokensMax: number;
  /** SHA-256 of the tokenizer, however its file is laid out; hexadecimal. */
  readonly tokenizerDigest: string;
  readonly sentence: SentenceSettings;
  /** config.json of the encoder; empty where it is absent. */
  readonly config: Members;
  /** Lines for people: what another library would do otherwise. */
  readonly notes: readonly string[];
}

/**
 * Settings of a model of texts beside its weights: how texts become tokens, and what is done with
 * them and their vectors. A field that changes either is done or refused.
 * @throws TesseraError TOKENIZER_INVALID, MODEL_INVALID naming file and field
 */
export async function readTextFolder(folder: string): Promise<TextFolder> {
  await refuseNoModel(folder, 'TOKENIZER_INVALID');
  const { path: own, hasModules } = await encoderFolder(folder);
  const path = join(own, TOKENIZER_FILE);
  const text = await readText(path, TOKENIZER_BYTES_MAX);
  if (text === undefined) throw invalid(path, 'a file', 'none');
  const document = membersOf(parsed(text, path), path);
  const config = (await readMembers(join(own, 'config.json'))) ?? {};
  const settingsPath = join(own, 'tokenizer_config.json');
  const settings = (await readMembers(settingsPath)) ?? {};
  // As sentence-transformers, which looks for no module where modules.json names none.
  const module = hasModules ? await readModuleSettings(own) : undefined;
  const { hasSegments, notes } = checkTokenizerSettings(settingsPath, settings, document, config);
  if (module?.isLowerCased) checkLowerCase(module.path, document);
  const tokenizer = await rustTokenizer(text, path);
  const chat = hasModules ? undefined : await chatNote(own, settings);
  const unread = await configNote(own);
  return {
    tokenizer: hasSegments ? tokenizer : withoutSegments(tokenizer),
    tokensMax: tokensMaxOf(module, settings, settingsPath),
    tokenizerDigest: digestOf(document),
    sentence: await readSentenceSettings(folder, hasModules),
    config,
    notes: [...notes, chat, unread].filter((note) => note !== undefined),
  };
}

/** Note on a folder that sentence-transformers did not save: what it would put around texts. */
async function chatNote(folder: string, { chat_template: own }: Members) {
  const path = join(folder, 'chat_template.jinja');
  const template = own ?? (await readText(path, TOKENIZER_BYTES_MAX));
  if (template === undefined || template === null) return undefined;
  return `${folder}: the chat template is not put around texts, as sentence-transformers would`;
}

/** All tokens of a pair are of one segment, whatever the template of the tokenizer says. */
function withoutSegments(tokenizer: TextTokenizer): TextTokenizer {
  return {
    encode: (text) => tokenizer.encode(text),
    encodeWhole: (text) => tokenizer.encodeWhole(text),
    encodePair: async (first, second) => {
      const { ids } = await tokenizer.encodePair(first, second);
      return { ids, segments: ids.map(() => 0) };
    },
  };
}

/** sentence-transformers puts lower case before a normaliser that has none. */
function checkLowerCase(path: string, { normalizer }: Members): void {
  const parts = [normalizer, ...[Object(normalizer).normalizers ?? []].flat()].map(Object);
  const isDone = parts.some(({ type, lowercase }) => type === 'Lowercase' || lowercase === true);
  if (isDone) return;
  throw invalid(`${path}: do_lower_case`, 'false: tokenizer.json keeps capital letters', true);
}

/** Without how a caller of the tokenizer cuts and fills texts, which is not asked here. */
function digestOf(document: object): string {
  const bare = Object.assign({}, document, { truncation: null, padding: null });
  return createHash('sha256').update(JSON.stringify(bare)).digest('hex');
}

/** Which tokens of a text are used: SentenceTransformers' length stands before the tokenizer's. */
function tokensMaxOf(
  module: ModuleSettings | undefined,
  { model_max_length: ofTokenizer }: Members,
  settingsPath: string,
): number {
  const lengths = [
    [`${module?.path}: max_seq_length`, module?.tokensMax],
    [`${settingsPath}: model_max_length`, ofTokenizer ?? undefined],
  ] as const;
  for (const [field, value] of lengths) {
    if (value === undefined) continue;
    // Tokenizers without a limit are saved with 10^30.
    if (typeof value === 'number' && value >= 3) return Math.floor(value);
    throw invalid(field, 'a number of 3 or more', value);
  }
  return Number.POSITIVE_INFINITY;
}
