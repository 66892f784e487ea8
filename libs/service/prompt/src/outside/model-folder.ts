import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type ErrorCode, parseJson, TesseraError } from '@tessera/errors';
import { openRegular, textOf } from '@tessera/files';
import { parseTemplate } from '../domain/parse-template.js';
import type { PromptTemplate } from '../domain/prompt-template.js';
import type { Tokenizer } from '../domain/tokenizer.js';
import { tokenizerDocuments } from '../domain/tokenizer-documents.js';
import { HuggingFaceTokenizer } from './hugging-face-tokenizer.js';

const TOKENIZER_FILE_BYTES_MAX = 128 << 20;
const TEMPLATE_FILE_BYTES_MAX = 16 << 20;

const TOKENIZER_FILES = [
  'tokenizer.json',
  'vocab.json',
  'merges.txt',
  'tokenizer_config.json',
  'added_tokens.json',
  'special_tokens_map.json',
];

/**
 * The tokenizer of a Hugging Face model folder. `readsLongTexts`: its thread for those begins now,
 * not with the first of them.
 * @throws TesseraError TOKENIZER_INVALID naming file and field
 */
export async function loadTokenizer(
  folder: string,
  { readsLongTexts = false }: { readonly readsLongTexts?: boolean } = {},
): Promise<Tokenizer> {
  const hash = createHash('sha256');
  const texts = new Map<string, string>();
  for (const name of TOKENIZER_FILES) {
    const bytes = await readIfPresent(folder, name, 'TOKENIZER_INVALID', TOKENIZER_FILE_BYTES_MAX);
    if (bytes === undefined) continue;
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    texts.set(name, textOf(join(folder, name), bytes, 'TOKENIZER_INVALID'));
  }
  if (!texts.has('tokenizer.json') && !texts.has('vocab.json')) {
    throw new TesseraError(
      'TOKENIZER_INVALID',
      `${folder}: expected tokenizer.json, or vocab.json and merges.txt, got neither`,
      { field: 'tokenizer.json' },
    );
  }
  const json = (name: string) => jsonOf(texts.get(name), name, 'TOKENIZER_INVALID');
  const merges = texts.get('merges.txt');
  const documents = tokenizerDocuments({
    tokenizer: json('tokenizer.json'),
    vocabulary: json('vocab.json'),
    ...(merges === undefined ? {} : { merges }),
    config: json('tokenizer_config.json'),
    addedTokens: json('added_tokens.json'),
    specialTokens: json('special_tokens_map.json'),
  });
  const tokenizer = new HuggingFaceTokenizer(documents, hash.digest('hex'));
  if (readsLongTexts) tokenizer.aside();
  return tokenizer;
}

/**
 * The prompt template of a model folder.
 * @throws TesseraError PROMPT_TEMPLATE_INVALID naming the path of the field
 */
export async function loadTemplate(folder: string): Promise<PromptTemplate> {
  const name = 'prompt.json';
  const code = 'PROMPT_TEMPLATE_INVALID';
  const bytes = await readIfPresent(folder, name, code, TEMPLATE_FILE_BYTES_MAX);
  if (bytes === undefined) {
    const page = 'docs/integrate/prompt-template.md';
    const message = `${folder}: expected the file ${name} (${page}), got none`;
    throw new TesseraError(code, message, { field: name });
  }
  const text = textOf(join(folder, name), bytes, code);
  return parseTemplate(jsonOf(text, name, code, parseJson), name);
}

async function readIfPresent(
  folder: string,
  name: string,
  code: ErrorCode,
  bytesMax: number,
): Promise<Buffer | undefined> {
  try {
    const file = await openRegular(join(folder, name));
    try {
      const { size } = await file.stat();
      if (size > bytesMax) {
        throw new TesseraError(code, `${name}: expected at most ${bytesMax} bytes, got ${size}`, {
          field: name,
        });
      }
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof TesseraError) throw error;
    const { code: reason, message } = error as NodeJS.ErrnoException;
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return undefined;
    throw new TesseraError('IO_FAILED', `${name}: ${message}`, { field: name, cause: error });
  }
}

/** @param parse for what people write; left out: as the library of the tokenizer takes it */
function jsonOf(
  text: string | undefined,
  name: string,
  code: ErrorCode,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw new TesseraError(code, `${name}: expected JSON: ${(error as Error).message}`, {
      field: name,
      cause: error,
    });
  }
}
