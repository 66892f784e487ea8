import { TesseraError } from '@tessera/errors';

/** A part of a call by its index, as errors name it: a document, a behaviour, a recall. */
const NAMED = /^(documents|texts|behaviours|recalls)\[(\d+)\]/;

/** The index of the document that a field or message begins with; undefined: with none. */
export function namedDocument(text: string): number | undefined {
  const found = NAMED.exec(text);
  return found === null ? undefined : Number(found[2]);
}

/** Replaces the document's index in its part by that in the call. */
export function renumbered(text: string, documents: readonly number[]): string {
  return text.replace(NAMED, (whole, name: string, index: string) => {
    const own = documents[Number(index)];
    return own === undefined ? whole : `${name}[${own}]`;
  });
}

export function renumberedError(error: TesseraError, documents: readonly number[]): TesseraError {
  const { code, message, field, retryAfterMs } = error;
  return new TesseraError(code, renumbered(message, documents), {
    field: field === undefined ? undefined : renumbered(field, documents),
    retryAfterMs,
    cause: error,
  });
}
