import type { CatalogueChange } from '@tessera/catalogue';

/** A change in the words of the wire. */
export function wireChange(change: CatalogueChange): object {
  const { op, itemId } = change;
  switch (op) {
    case 'upsert':
      return { upsert: change };
    case 'pause':
    case 'resume':
    case 'remove':
      return { [`${op}ItemId`]: itemId };
    case 'set_attributes':
      return { setAttributes: change };
    case 'set_priority':
      return { setPriority: change };
  }
}
