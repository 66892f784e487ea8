import type { AttributeDeclaration, ChangingCatalogue } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { readRegular, textOf } from '@tessera/files';
import { parseAttributeSchema } from '../domain/attribute-schema.js';
import { parseValuations } from '../domain/valuation-file.js';

const FILE_BYTES_MAX = 16 << 20;

/** @param key of the configuration that names the file */
async function textAt(key: string, path: string): Promise<string> {
  const bytes = await readRegular(path, FILE_BYTES_MAX).catch((error: Error) => {
    const message = `${key}: expected a file, got ${path}: ${error.message}`;
    throw new TesseraError('CATALOGUE_NOT_FOUND', message, { cause: error });
  });
  return textOf(path, bytes, 'CATALOGUE_INVALID');
}

/**
 * The declarations of a file (docs/concepts/eligibility.md).
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with file and member
 */
export async function readAttributeSchema(path: string): Promise<AttributeDeclaration[]> {
  return parseAttributeSchema(await textAt('catalogue.attributesPath', path), path);
}

const ENGINE_PATH = /^valuations\[(\d+)\](?:\.terms\[(\d+)\])?/;

/** Place in the file of an attribute's term: the engine is not given those of heads. */
function placeOf(text: string, name: string, term: number): number {
  const { [name]: valuation } = JSON.parse(text) as Record<string, { terms: { head?: unknown }[] }>;
  const places = [...(valuation?.terms.entries() ?? [])].filter(
    ([, { head }]) => head === undefined,
  );
  return places[term]?.[0] ?? term;
}

/**
 * Requests may go by the valuations of the file (docs/concepts/value.md) from now on.
 * @param key of the configuration that names the file
 * @throws TesseraError CATALOGUE_NOT_FOUND, CATALOGUE_INVALID with key, file and member
 */
export async function valueByFile(
  catalogue: Pick<ChangingCatalogue, 'valueBy'>,
  path: string,
  key: string,
): Promise<void> {
  const file = `${key}: ${path}`;
  const text = await textAt(key, path);
  const valuations = parseValuations(text, file);
  await catalogue.valueBy(valuations).catch((thrown: unknown) => {
    const error = TesseraError.from(thrown);
    const named = (message: string) =>
      message.replace(ENGINE_PATH, (_, valuation: string, term: string | undefined) => {
        const name = valuations[Number(valuation)]?.name ?? '';
        return term === undefined ? name : `${name}.terms[${placeOf(text, name, Number(term))}]`;
      });
    const { code, field = '' } = error;
    throw new TesseraError(code, `${file}: ${named(error.message)}`, {
      field: `${file}: ${named(field)}`,
      cause: error,
    });
  });
}
