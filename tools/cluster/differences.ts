import { createHash } from 'node:crypto';
import type { Connection } from '@tessera/client';
import { CatalogueClient } from '../served/catalogue-client.js';

const LIST_MS = 600_000;

interface Listed {
  readonly items: readonly { readonly itemId: string }[];
}

/** An item that is not the same on two nodes. */
export interface ItemDifference {
  readonly itemId: string;
  /** Undefined: the node does not have it. */
  readonly first: string | undefined;
  readonly second: string | undefined;
}

const textOf = (item: object) => JSON.stringify(item);
const digestOf = (text: string) => createHash('sha256').update(text).digest('base64');

/**
 * Items that two nodes do not have alike, in the order of their IDs. Of one node the digests are
 * held, of both the items that differ. Rejects as the calls do.
 */
export async function differencesOf(
  [first, second]: readonly [string, string],
  catalogue: string,
  connection: Connection,
): Promise<readonly ItemDifference[]> {
  const digests = new Map<string, string>();
  await eachItem(first, catalogue, connection, (itemId, text) => {
    digests.set(itemId, digestOf(text));
  });
  const other = new Map<string, string>();
  await eachItem(second, catalogue, connection, (itemId, text) => {
    if (digests.get(itemId) === digestOf(text)) digests.delete(itemId);
    else other.set(itemId, text);
  });
  const own = new Map<string, string>();
  if (digests.size > 0) {
    await eachItem(first, catalogue, connection, (itemId, text) => {
      if (digests.has(itemId)) own.set(itemId, text);
    });
  }
  const ids = [...new Set([...own.keys(), ...other.keys()])].sort();
  return ids.map((itemId) => ({ itemId, first: own.get(itemId), second: other.get(itemId) }));
}

async function eachItem(
  address: string,
  catalogue: string,
  connection: Connection,
  take: (itemId: string, text: string) => void,
): Promise<void> {
  const client = new CatalogueClient(address, catalogue, connection);
  try {
    for await (const { items } of client.stream<Listed>('ListItems', {}, LIST_MS)) {
      for (const item of items) take(item.itemId, textOf(item));
    }
  } finally {
    client.close();
  }
}
