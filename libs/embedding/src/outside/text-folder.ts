import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expecting } from '@tessera/errors';
import type { TextTokenizer } from '../domain/text-tokens.js';
import { rustTokenizer } from './rust-tokenizer.js';

const TOKENIZER_FILE = 'tokenizer.json';
/** Of SentenceTransformers and of transformers: which tokens of a text are used. */
const LENGTH_FIELDS = [
  ['sentence_bert_config.json', 'max_seq_length'],
  ['tokenizer_config.json', 'model_max_length'],
] as const;
const TOKENIZER_BYTES_MAX = 128 << 20;
const CONFIG_BYTES_MAX = 16 << 20;

const invalid = expecting('TOKENIZER_INVALID');

export interface TextFolder {
  readonly tokenizer: TextTokenizer;
  /** Of a text, special ones included; Infinity where the folder says nothing. */
  readonly tokensMax: number;
  /** SHA-256 of the tokenizer, however its file is laid out; hexadecimal. */
  readonly tokenizerDigest: string;
}

/**
 * What the tokenizer library reads of a model of texts: WordPiece, Unigram or BPE.
 * @throws TesseraError TOKENIZER_INVALID naming file and field
 */
export async function readTextFolder(folder: string): Promise<TextFolder> {
  const path = join(folder, TOKENIZER_FILE);
  const text = await readText(path, TOKENIZER_BYTES_MAX);
  if (text === undefined) throw invalid(path, 'a file', 'none');
  const document = objectOf(text, path);
  return {
    tokenizer: await rustTokenizer(text, path),
    tokensMax: await readTokensMax(folder),
    tokenizerDigest: digestOf(document),
  };
}

/** Without how a caller of the tokenizer cuts and fills texts, which is not asked here. */
function digestOf(document: object): string {
  const bare = { ...document, truncation: null, padding: null };
  return createHash('sha256').update(JSON.stringify(bare)).digest('hex');
}

async function readTokensMax(folder: string): Promise<number> {
  for (const [file, field] of LENGTH_FIELDS) {
    const path = join(folder, file);
    const value = (await readJson(path, CONFIG_BYTES_MAX))?.[field] ?? undefined;
    if (value === undefined) continue;
    // Tokenizers without a limit are saved with 10^30.
    if (typeof value === 'number' && value >= 3) return Math.floor(value);
    throw invalid(`${path}: ${field}`, 'a number of 3 or more', value);
  }
  return Number.POSITIVE_INFINITY;
}

/** Undefined where the file is absent. */
async function readJson(
  path: string,
  bytesMax: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readText(path, bytesMax);
  return text === undefined ? undefined : objectOf(text, path);
}

function objectOf(text: string, path: string): Readonly<Record<string, unknown>> {
  const value: unknown = parsed(text, path);
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw invalid(path, 'an object', value);
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(path, 'JSON', (error as Error).message, error);
  }
}

async function readText(path: string, bytesMax: number): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw invalid(path, 'a file that can be read', error.message, error);
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > bytesMax) throw invalid(path, `at most ${bytesMax} bytes`, size);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
