import { readFile } from 'node:fs/promises';
import { expecting } from '@tessera/errors';

const invalid = expecting('REQUEST_INVALID');

/** @throws TesseraError REQUEST_INVALID; SyntaxError for a file that is not JSON */
export async function readTexts(path: string): Promise<readonly string[]> {
  const value: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  throw invalid(path, 'an array of texts', value);
}
