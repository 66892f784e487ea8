/** What may happen to a catalogue while it serves; docs/live-catalogue.md gives the rules. */

import { JSON_DEPTH_MAX, nestsTooDeep, TesseraError } from '@tessera/errors';

export type CatalogueChange =
  | {
      readonly op: 'upsert';
      readonly itemId: string;
      readonly sid: readonly number[];
      readonly title: string;
      /** Text of a JSON object; '' for none. */
      readonly attributes: string;
      readonly priority: number;
    }
  | { readonly op: 'pause' | 'resume' | 'remove'; readonly itemId: string }
  | { readonly op: 'set_attributes'; readonly itemId: string; readonly attributes: string }
  | { readonly op: 'set_priority'; readonly itemId: string; readonly priority: number };

/** JSON of one change, as the engine reads it; text that is no JSON is left to it to refuse. */
function changeText(change: CatalogueChange, index: number): string {
  const { itemId, ...rest } = change;
  const text = JSON.stringify({ ...rest, item_id: itemId, attributes: undefined });
  if (!('attributes' in rest)) return text;
  if (nestsTooDeep(rest.attributes)) {
    const field = `changes[${index}].attributes`;
    const message = `${field}: expected JSON nested at most ${JSON_DEPTH_MAX} deep, got more`;
    throw new TesseraError('CATALOGUE_INVALID', message, { field });
  }
  const attributes = rest.attributes === '' ? '{}' : JSON.stringify(asJson(rest.attributes));
  return `${text.slice(0, -1)},"attributes":${attributes}}`;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param first place of the first of them in their batch
 * @throws TesseraError CATALOGUE_INVALID for attributes that nest too deep
 */
export function changesText(changes: readonly CatalogueChange[], first = 0): string {
  return `[${changes.map((change, i) => changeText(change, first + i)).join(',')}]`;
}
