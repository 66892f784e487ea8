/** Changes of a catalogue while it serves; docs/live-catalogue.md gives the rules. */

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

/**
 * The engine reads the attributes by descending into them.
 * @param first place of the first of the changes in their batch
 * @throws TesseraError CATALOGUE_INVALID for attributes that nest too deep
 */
export function checkNesting(changes: readonly CatalogueChange[], first: number): void {
  const deep = changes.findIndex(
    (change) => 'attributes' in change && nestsTooDeep(change.attributes),
  );
  if (deep < 0) return;
  const field = `changes[${first + deep}].attributes`;
  const message = `${field}: expected JSON nested at most ${JSON_DEPTH_MAX} deep, got more`;
  throw new TesseraError('CATALOGUE_INVALID', message, { field });
}

/** Characters of its texts. */
export function charactersOf(change: CatalogueChange): number {
  const title = 'title' in change ? change.title.length : 0;
  const attributes = 'attributes' in change ? change.attributes.length : 0;
  return change.itemId.length + title + attributes;
}
