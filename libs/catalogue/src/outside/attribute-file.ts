import { readFile } from 'node:fs/promises';
import type { AttributeDeclaration } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { parseAttributeSchema } from '../domain/attribute-schema.js';

/**
 * The declarations of a file (docs/eligibility.md).
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with file and member
 */
export async function readAttributeSchema(path: string): Promise<AttributeDeclaration[]> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    const message = `catalogue.attributesPath: expected a file, got ${path}: ${error.message}`;
    throw new TesseraError('CATALOGUE_NOT_FOUND', message, { cause: error });
  });
  return parseAttributeSchema(text, path);
}
