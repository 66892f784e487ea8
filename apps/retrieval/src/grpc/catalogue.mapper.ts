/** Changes of the wire as those of the domain. What they say is checked where they are applied. */

import type { CatalogueChange } from '@tessera/catalogue';
import type { WireChange } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';

function parseChange(change: WireChange, index: number): CatalogueChange {
  const { upsert, pauseItemId, resumeItemId, removeItemId, setAttributes, setPriority } = change;
  if (upsert !== undefined) return { op: 'upsert', ...upsert };
  if (pauseItemId !== undefined) return { op: 'pause', itemId: pauseItemId };
  if (resumeItemId !== undefined) return { op: 'resume', itemId: resumeItemId };
  if (removeItemId !== undefined) return { op: 'remove', itemId: removeItemId };
  if (setAttributes !== undefined) return { op: 'set_attributes', ...setAttributes };
  if (setPriority !== undefined) return { op: 'set_priority', ...setPriority };
  const field = `changes[${index}]`;
  throw new TesseraError('CATALOGUE_INVALID', `${field}: expected a change, got none`, { field });
}

/** @param first place of the first of them in their batch */
export function parseWireChanges(changes: readonly WireChange[], first = 0): CatalogueChange[] {
  return changes.map((change, i) => parseChange(change, first + i));
}
