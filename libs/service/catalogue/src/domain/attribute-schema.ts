/** The file that declares the attributes of a catalogue (docs/concepts/eligibility.md). */

import { type AttributeDeclaration, DECLARED_TYPES } from '@tessera/engine';
import { expecting, parseJson } from '@tessera/errors';
import { closest } from 'fastest-levenshtein';

const invalid = expecting('CATALOGUE_INVALID');
const MEMBERS = ['type', 'values'];

function objectOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalid(path, 'a JSON object', value);
}

function declarationOf(name: string, value: unknown, file: string): AttributeDeclaration {
  const path = `${file}: ${name}`;
  const declared = objectOf(value, path);
  const stranger = Object.keys(declared).find((member) => !MEMBERS.includes(member));
  if (stranger !== undefined) {
    const meant = `one of ${MEMBERS.join(', ')} (did you mean ${closest(stranger, MEMBERS)}?)`;
    throw invalid(`${path}.${stranger}`, meant, 'another member');
  }
  const type = DECLARED_TYPES.find((one) => one === declared.type);
  if (type === undefined) throw invalid(`${path}.type`, DECLARED_TYPES.join(', '), declared.type);
  const { values = [] } = declared;
  const areTexts = Array.isArray(values) && values.every((text) => typeof text === 'string');
  if (!areTexts) throw invalid(`${path}.values`, 'a list of texts', values);
  if (values.length > 0 && type !== 'text' && type !== 'set') {
    throw invalid(`${path}.values`, 'values of a text or a set', `those of: ${type}`);
  }
  return { name, type, values };
}

/**
 * Reads `{"country": {"type": "text", "values": ["de", "at"]}, "bid": {"type": "number"}}`.
 * @param file named by messages
 * @throws TesseraError CATALOGUE_INVALID with file and member
 */
export function parseAttributeSchema(text: string, file: string): AttributeDeclaration[] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw invalid(file, 'JSON', (error as Error).message);
  }
  return Object.entries(objectOf(json, file)).map(([name, value]) =>
    declarationOf(name, value, file),
  );
}
