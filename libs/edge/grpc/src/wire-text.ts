import { expecting } from '@tessera/errors';

export const invalid = expecting('REQUEST_INVALID');

/** The decoder puts this character where bytes were not UTF-8. */
const REPLACEMENT = '\ufffd';

/** @throws TesseraError REQUEST_INVALID where the bytes were not UTF-8 */
export function text(field: string, value: string): string {
  if (value.includes(REPLACEMENT)) throw invalid(field, 'valid UTF-8', 'bytes that are not');
  return value;
}

/** Texts as text() reads them, for the keys and values of a map. */
export function texts(
  field: string,
  map: Readonly<Record<string, string>>,
): Record<string, string> {
  for (const [key, value] of Object.entries(map)) {
    text(`${field} key`, key);
    text(`${field}.${key}`, value);
  }
  return map;
}
