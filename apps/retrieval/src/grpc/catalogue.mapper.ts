/** Changes of the wire as those of the domain. What they say is checked where they are applied. */

import { type CatalogueChange, type ChangedItems, FormReader } from '@tessera/catalogue';
import type { WireChange, WirePatchAttributes, WirePredicate } from '@tessera/contracts';
import { expecting } from '@tessera/errors';
import { clauseFrom } from '../wire/eligibility.mapper.js';

const invalid = expecting('CATALOGUE_INVALID');
const reader = new FormReader('CATALOGUE_INVALID');

function matching(predicate: WirePredicate, index: number): ChangedItems {
  return { itemId: '', predicate: clauseFrom(predicate, `changes[${index}].predicate`, reader) };
}

function parsePatch(given: WirePatchAttributes, index: number): CatalogueChange {
  const { itemId, matching: predicate, set, unset, add, take, delta } = given;
  const items = predicate === undefined ? { itemId: itemId ?? '' } : matching(predicate, index);
  return { op: 'patch_attributes', ...items, patch: { set, unset, add, take, delta } };
}

function parseChange(change: WireChange, index: number): CatalogueChange {
  const { upsert, pauseItemId, resumeItemId, removeItemId, setAttributes, setPriority } = change;
  const { patchAttributes, pauseMatching, resumeMatching, removeMatching } = change;
  if (upsert !== undefined) return { op: 'upsert', ...upsert };
  if (pauseItemId !== undefined) return { op: 'pause', itemId: pauseItemId };
  if (resumeItemId !== undefined) return { op: 'resume', itemId: resumeItemId };
  if (removeItemId !== undefined) return { op: 'remove', itemId: removeItemId };
  if (setAttributes !== undefined) return { op: 'set_attributes', ...setAttributes };
  if (setPriority !== undefined) return { op: 'set_priority', ...setPriority };
  if (patchAttributes !== undefined) return parsePatch(patchAttributes, index);
  if (pauseMatching !== undefined) return { op: 'pause', ...matching(pauseMatching, index) };
  if (resumeMatching !== undefined) return { op: 'resume', ...matching(resumeMatching, index) };
  if (removeMatching !== undefined) return { op: 'remove', ...matching(removeMatching, index) };
  throw invalid(`changes[${index}]`, 'a change', 'none');
}

/** @param first place of the first of them in their batch */
export function parseWireChanges(changes: readonly WireChange[], first = 0): CatalogueChange[] {
  return changes.map((change, i) => parseChange(change, first + i));
}
