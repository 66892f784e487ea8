import { readFile } from 'node:fs/promises';
import { textOf } from '@tessera/files';
import { fail } from './command.js';

/**
 * Content of the JSON file that a flag names.
 * @throws UsageError
 */
export async function readJson(flag: string, path: string): Promise<unknown> {
  try {
    return JSON.parse(textOf(path, await readFile(path), 'REQUEST_INVALID'));
  } catch (error) {
    return fail(flag, 'a JSON file', (error as Error).message);
  }
}

/** The same of an array of texts. */
export async function readTexts(flag: string, path: string): Promise<readonly string[]> {
  const value = await readJson(flag, path);
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  return fail(flag, 'an array of texts', path);
}
