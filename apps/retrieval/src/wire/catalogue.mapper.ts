/** Changes of the wire as those of the domain. The catalogue checks them when it applies them. */

import {
  type AppliedImport,
  type CatalogueChange,
  type CatalogueChanges,
  ChangeBatch,
  type ChangedItems,
  FormReader,
} from '@tessera/catalogue';
import type {
  Submission,
  WireApplyRequest,
  WireApplyResponse,
  WireChange,
  WirePatchAttributes,
  WirePredicate,
  WireQuantiseRequest,
  WireQuantiseResponse,
} from '@tessera/contracts';
import { expecting } from '@tessera/errors';
import { clauseFrom } from './eligibility.mapper.js';

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
  const { patchAttributes, pauseMatching, resumeMatching, removeMatching, setPace } = change;
  if (upsert !== undefined) return { op: 'upsert', ...upsert };
  if (pauseItemId !== undefined) return { op: 'pause', itemId: pauseItemId };
  if (resumeItemId !== undefined) return { op: 'resume', itemId: resumeItemId };
  if (removeItemId !== undefined) return { op: 'remove', itemId: removeItemId };
  if (setAttributes !== undefined) return { op: 'set_attributes', ...setAttributes };
  if (setPriority !== undefined) return { op: 'set_priority', ...setPriority };
  if (setPace !== undefined) return { op: 'set_pace', itemId: '', pace: setPace };
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

/** Changes as a step from bundle to bundle, as a batch of an import, or as they are. */
export function applyWire(
  catalogue: CatalogueChanges,
  changes: readonly CatalogueChange[],
  { bundle, importMark }: Pick<WireApplyRequest, 'bundle' | 'importMark'>,
  source: string,
  how: Submission,
): Promise<AppliedImport> {
  if (bundle && importMark) throw invalid('importMark', 'none beside bundle', importMark.name);
  const batch = ChangeBatch.of(changes);
  if (bundle) return catalogue.applyBundle(batch, bundle, source, how);
  if (importMark) return catalogue.applyImport(batch, importMark, source, how);
  return catalogue.applyBatch(batch, source, how);
}

export const answerOf = (applied: AppliedImport): WireApplyResponse => ({
  sequence: applied.sequence,
  matched: [...applied.matched],
  paced: [...applied.paced],
  unvaluedItemIds: [...applied.unvalued],
  placed: sidsOf(applied.placed.offsets, applied.placed.codes).map((sid) => ({ sid })),
  alreadyApplied: applied.alreadyApplied,
  offset: applied.offset ?? 0,
});

function sidsOf(offsets: Uint32Array, codes: Uint32Array): number[][] {
  const count = Math.max(0, offsets.length - 1);
  return Array.from({ length: count }, (_, i) => [...codes.subarray(offsets[i], offsets[i + 1])]);
}

const NEIGHBOURS = 10;
const NEIGHBOURS_MAX = 1000;

/** @throws TesseraError CATALOGUE_INVALID with the field */
export async function quantised(
  changes: CatalogueChanges,
  { neighbours: asked, ...source }: WireQuantiseRequest,
): Promise<WireQuantiseResponse> {
  // Left out, it comes as null.
  const count = asked ?? NEIGHBOURS;
  if (count > NEIGHBOURS_MAX) throw invalid('neighbours', `at most ${NEIGHBOURS_MAX}`, count);
  const { codes, distances, sid, neighbours, codebooks, sequence } = await changes.landing(
    source,
    count,
  );
  const nearest = { codes: [...codes], distances: [...distances], sid: [...sid] };
  const near = neighbours.map((one) => Object.assign({}, one, { sid: [...one.sid] }));
  return Object.assign(nearest, { neighbours: near, codebooks, sequence });
}
