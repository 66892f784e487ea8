import { TesseraError } from '@tessera/errors';

/** The decoder puts this character where bytes were not UTF-8. */
const REPLACEMENT = '\ufffd';

/** REQUEST_INVALID with the field, what was expected and what it got. */
export function invalid(field: string, expected: string, got: unknown): TesseraError {
  const message = `${field}: expected ${expected}, got ${String(got)}`;
  return new TesseraError('REQUEST_INVALID', message, { field });
}

/** @throws TesseraError REQUEST_INVALID where the bytes were not UTF-8 */
export function text(field: string, value: string): string {
  if (value.includes(REPLACEMENT)) throw invalid(field, 'valid UTF-8', 'bytes that are not');
  return value;
}

/** As text(), for the keys and values of a map. */
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
