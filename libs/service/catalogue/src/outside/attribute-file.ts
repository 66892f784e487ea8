import type { AttributeDeclaration } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { parseAttributeSchema } from '../domain/attribute-schema.js';

const FILE_BYTES_MAX = 16 << 20;

/**
 * The declarations of a file (docs/concepts/eligibility.md).
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with file and member
 */
export async function readAttributeSchema(path: string): Promise<AttributeDeclaration[]> {
  const bytes = await readRegular(path, FILE_BYTES_MAX).catch((error: Error) => {
    const message = `catalogue.attributesPath: expected a file, got ${path}: ${error.message}`;
    throw new TesseraError('CATALOGUE_NOT_FOUND', message, { cause: error });
  });
  return parseAttributeSchema(textOf(path, bytes, 'CATALOGUE_INVALID'), path);
}
