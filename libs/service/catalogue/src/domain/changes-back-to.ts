import { createHash } from 'node:crypto';
import type { Submission } from '@tessera/contracts';
import {
  type ChangingCatalogue,
  EVERY_ITEM,
  type GivenChange,
  type ListedItem,
} from '@tessera/engine';
import { MESSAGE_CHANGES_MAX } from './change-batch.js';

const asText = (item: ListedItem) => JSON.stringify(item);

const upsertOf = ({ itemId, sid, title, attributes, priority }: ListedItem): GivenChange => ({
  op: 'upsert',
  itemId,
  sid,
  title,
  attributes,
  priority,
});

export interface ChangesBack {
  /** An item is named once in a batch: what it needs besides comes in the second, or none. */
  readonly batches: readonly (readonly (readonly GivenChange[])[])[];
  /** Number of the version that they were made for. */
  readonly onto: number;
}

/**
 * The changes that make the items of the newest version those of version `to`. Pauses come first,
 * so that no paused item is live in between but one that had been removed.
 * Rejects with CATALOGUE_NOT_FOUND where the version is not kept.
 */
export async function changesBackTo(
  catalogue: ChangingCatalogue,
  to: number,
): Promise<ChangesBack> {
  const request = EVERY_ITEM;
  const { reach: old } = await catalogue.judge({ request, itemId: '', sequence: to });
  const now = await catalogue.reach(EVERY_ITEM);
  const wanted = new Map<string, ListedItem>();
  for (const page of catalogue.listItems(old)) {
    for (const item of page) wanted.set(item.itemId, item);
  }
  const first: GivenChange[] = [];
  const second: GivenChange[] = [];
  const add = ([one, other]: readonly GivenChange[]) => {
    if (one !== undefined) first.push(one);
    if (other !== undefined) second.push(other);
  };
  for (const page of catalogue.listItems(now)) {
    for (const item of page) {
      const before = wanted.get(item.itemId);
      wanted.delete(item.itemId);
      add(before === undefined ? [{ op: 'remove', itemId: item.itemId }] : changesOf(item, before));
    }
  }
  for (const item of wanted.values()) add(changesOf(undefined, item));
  const batches = [first, second].filter((changes) => changes.length > 0).map(inMessages);
  return { batches, onto: now.sequence };
}

/** Submission of one step of a change: each has a key of its own, made of the caller's. */
export function stepOf(how: Submission, onto: number): Submission {
  const { key = '' } = how;
  if (key === '') return how;
  return { ...how, key: createHash('sha256').update(`${key} ${onto}`).digest('hex') };
}

/** Changes from what an item is, if anything, to what it was. */
function changesOf(item: ListedItem | undefined, before: ListedItem): GivenChange[] {
  const { itemId, isPaused } = before;
  const isSame = item !== undefined && asText({ ...item, isPaused }) === asText(before);
  const content = isSame ? [] : [upsertOf(before)];
  if (isPaused === (item?.isPaused ?? false)) return content;
  if (!isPaused) return [...content, { op: 'resume', itemId }];
  const pause: GivenChange = { op: 'pause', itemId };
  return item === undefined ? [...content, pause] : [pause, ...content];
}

function inMessages(changes: readonly GivenChange[]): GivenChange[][] {
  const messages: GivenChange[][] = [];
  for (let first = 0; first < changes.length; first += MESSAGE_CHANGES_MAX) {
    messages.push(changes.slice(first, first + MESSAGE_CHANGES_MAX));
  }
  return messages;
}
