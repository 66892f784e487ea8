import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { GivenCodebooks } from '@tessera/engine';
import { expecting, TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import type { SemanticIds } from '../domain/semantic-ids.js';
import type { ItemEncoders, TextEmbedder } from '../domain/text-embedder.js';
import { TfidfEmbedder } from '../domain/tfidf-embedder.js';
import { UnservedEmbedder } from '../domain/unserved-embedder.js';
import { readSafetensors, type Safetensors, type Tensor } from './safetensors.js';

const WORDS_BYTES_MAX = 256 << 20;

const CODEBOOKS_FILE = 'codebooks.safetensors';
const WORDS_FILE = 'text.json';
const NUMBERS_FILE = 'text.safetensors';
const FORMAT = 'tessera-codebooks';
const TFIDF = 'tfidf-svd';
const ENCODER = 'encoder';
/** SHA-256 in hexadecimal. */
const DIGEST = /^[0-9a-f]{64}$/;
const VERSION = 1;
/** Versions of a vocabulary of texts: 1 has no parts of words, and is read alike. */
const TFIDF_VERSIONS: readonly unknown[] = [1, 2];

const invalid = expecting('CATALOGUE_INVALID');

type Members = Readonly<Record<string, unknown>>;

/** Content of a folder of semantic IDs: the codebooks for the engine, and the rest. */
export interface CodebookFolder extends SemanticIds {
  readonly codebooks: GivenCodebooks;
}

/**
 * A folder that `python -m trainer sids` wrote (docs/concepts/semantic-ids.md).
 * @param encoders among which the one is that made its vectors, where an encoder did
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with file and tensor
 */
export async function readCodebookFolder(
  folder: string,
  encoders: ItemEncoders,
): Promise<CodebookFolder> {
  const path = join(folder, CODEBOOKS_FILE);
  const file = await readSafetensors(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? notFound(folder, error) : error;
  });
  const { version, capacity } = described(file.metadata[FORMAT], path);
  if (version !== VERSION) throw invalid(`${path}: ${FORMAT}`, `version ${VERSION}`, version);
  if (!Number.isSafeInteger(capacity) || (capacity as number) < 1) {
    throw invalid(`${path}: capacity`, 'an integer of 1 or more', capacity);
  }
  const codebooks = codebooksOf(file, capacity as number, path);
  const embedder = await readEmbedder(folder, codebooks.dimension, encoders);
  if (embedder !== undefined && embedder.dimension !== codebooks.dimension) {
    const expected = `vectors of ${embedder.dimension} numbers, as texts have by ${WORDS_FILE}`;
    throw invalid(path, expected, codebooks.dimension);
  }
  return {
    digest: createHash('sha256').update(file.content).digest('hex'),
    codebooks,
    embedder,
  };
}

/** Members of a JSON text. */
function described(text: unknown, path: string): Members {
  try {
    return (JSON.parse(String(text ?? null)) ?? {}) as Members;
  } catch (error) {
    throw invalid(path, 'JSON', (error as Error).message, error);
  }
}

function notFound(folder: string, cause: Error): TesseraError {
  const expected = `expected a folder with ${CODEBOOKS_FILE}`;
  const message = `catalogue.codebooksPath: ${expected}, got ${folder}`;
  return new TesseraError('CATALOGUE_NOT_FOUND', message, { cause });
}

function matrix({ tensors }: Safetensors, name: string, path: string): Tensor & Floats {
  const tensor = tensors.get(name);
  if (tensor?.shape.length !== 2 || !(tensor.values instanceof Float32Array)) {
    throw invalid(`${path}: ${name}`, 'a matrix of F32', tensor?.shape);
  }
  return tensor as Tensor & Floats;
}

interface Floats {
  readonly values: Float32Array;
}

function counted(file: Safetensors, name: (index: number) => string): number[] {
  const found: number[] = [];
  while (file.tensors.has(name(found.length))) found.push(found.length);
  return found;
}

function codebooksOf(file: Safetensors, capacity: number, path: string): GivenCodebooks {
  const levels = counted(file, (i) => `level.${i}`).map((i) => matrix(file, `level.${i}`, path));
  const encoder = counted(file, (i) => `encoder.${i}.weight`).map((i) => {
    const { values: weights, shape } = matrix(file, `encoder.${i}.weight`, path);
    const bias = file.tensors.get(`encoder.${i}.bias`)?.values;
    if (bias instanceof Float32Array) return { weights, bias, shape };
    throw invalid(`${path}: encoder.${i}.bias`, 'numbers of F32', undefined);
  });
  const dimension = [...encoder, ...levels][0]?.shape[1] ?? 0;
  let width = dimension;
  const check = (name: string, rows: number | undefined) => {
    if (rows !== width) throw invalid(`${path}: ${name}`, `rows of ${width} numbers`, rows);
  };
  for (const [i, { shape }] of encoder.entries()) {
    check(`encoder.${i}.weight`, shape[1]);
    width = shape[0] ?? 0;
  }
  for (const [i, { shape }] of levels.entries()) check(`level.${i}`, shape[1]);
  return {
    dimension,
    capacity,
    encoder: encoder.map(({ weights, bias }) => ({ weights, bias })),
    levels: levels.map(({ values }) => ({ values })),
  };
}

/** Undefined where the folder does not say how texts become vectors. */
async function readEmbedder(
  folder: string,
  dimension: number,
  encoders: ItemEncoders,
): Promise<TextEmbedder | undefined> {
  const path = join(folder, WORDS_FILE);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const bytes = await readRegular(path, WORDS_BYTES_MAX);
  const members = described(textOf(path, bytes, 'CATALOGUE_INVALID'), path);
  const { version, kind } = members;
  if (TFIDF_VERSIONS.includes(version) && kind === TFIDF) {
    return readTfidf(folder, wordList(members.words, path));
  }
  if (version === VERSION && kind === ENCODER) {
    const tokensDigest =
      members.tokens_digest === undefined ? undefined : digestOf(members, 'tokens_digest', path);
    const whole = {
      modelDigest: digestOf(members, 'model_digest', path),
      tokensDigest,
      computeType: typeOf(members, path),
      dimension,
    };
    return encoders.find(whole) ?? new UnservedEmbedder(whole);
  }
  throw invalid(path, `version ${VERSION}, kind ${TFIDF} or ${ENCODER}`, { version, kind });
}

async function readTfidf(folder: string, words: readonly string[]): Promise<TfidfEmbedder> {
  const path = join(folder, NUMBERS_FILE);
  const { tensors } = await readSafetensors(path);
  const idf = tensors.get('idf')?.values;
  const components = tensors.get('components');
  const fits =
    idf instanceof Float64Array &&
    components?.values instanceof Float32Array &&
    idf.length === words.length &&
    components.shape[0] === words.length;
  if (!fits) throw invalid(path, `idf and components of ${words.length} words`, components?.shape);
  return new TfidfEmbedder({ words, idf, components: components.values as Float32Array });
}

function wordList(words: unknown, path: string): readonly string[] {
  const isList = Array.isArray(words) && words.length > 0;
  if (isList && words.every((word) => typeof word === 'string')) return words as string[];
  throw invalid(`${path}: words`, 'an array of words', words);
}

function digestOf(members: Members, name: string, path: string): string {
  const digest = members[name];
  if (typeof digest === 'string' && DIGEST.test(digest)) return digest;
  throw invalid(`${path}: ${name}`, 'a SHA-256 in hexadecimal', digest);
}

function typeOf({ compute_type: type }: Members, path: string): string {
  if (typeof type === 'string' && type !== '') return type;
  throw invalid(`${path}: compute_type`, 'f32, bf16, w8a8 or w8a8-static', type);
}
