import { expecting } from '@tessera/errors';
import { openRegular, textOf } from '@tessera/files';

const CONFIG_BYTES_MAX = 16 << 20;
const invalid = expecting('TOKENIZER_INVALID');

/** Members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * An object of a model's folder.
 * @returns undefined where the file is absent
 * @throws TesseraError TOKENIZER_INVALID naming the file
 */
export async function readMembers(path: string): Promise<Members | undefined> {
  const text = await readText(path, CONFIG_BYTES_MAX);
  return text === undefined ? undefined : membersOf(parsed(text, path), path);
}

/**
 * Undefined where the file is absent.
 * @throws TesseraError TOKENIZER_INVALID where it is no JSON
 */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path, CONFIG_BYTES_MAX);
  return text === undefined ? undefined : parsed(text, path);
}

export function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(path, 'JSON', (error as Error).message, error);
  }
}

export function membersOf(value: unknown, path: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw invalid(path, 'an object', value);
}

/** Undefined where the file is absent. */
export async function readText(path: string, bytesMax: number): Promise<string | undefined> {
  const file = await openRegular(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw invalid(path, 'a file that can be read', error.message, error);
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > bytesMax) throw invalid(path, `at most ${bytesMax} bytes`, size);
    return textOf(path, await file.readFile(), 'TOKENIZER_INVALID');
  } finally {
    await file.close();
  }
}
