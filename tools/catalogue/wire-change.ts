import { TesseraError } from '@tessera/errors';

/** A change as a line of JSON says it, in the words of the wire. */
export function wireChange(line: Readonly<Record<string, unknown>>): object {
  const { op, item_id: itemId, attributes, ...rest } = line;
  const described = {
    itemId,
    ...rest,
    ...(attributes === undefined ? {} : { attributes: JSON.stringify(attributes) }),
  };
  switch (op) {
    case 'upsert':
      return { upsert: described };
    case 'pause':
    case 'resume':
    case 'remove':
      return { [`${op}ItemId`]: itemId };
    case 'set_attributes':
      return { setAttributes: described };
    case 'set_priority':
      return { setPriority: described };
    default:
      throw new TesseraError(
        'CATALOGUE_INVALID',
        'op: expected upsert, pause, resume, remove, set_attributes or set_priority',
      );
  }
}
