import { type CatalogueChange, MESSAGE_CHANGES_MAX } from '@tessera/catalogue';

/** The changes of one message. */
export interface ChangeSet {
  readonly catalogue: string;
  readonly changes: readonly CatalogueChange[];
}

/**
 * Neighbours that may be applied at once: of one catalogue, no item named twice, not too many. A
 * run has the effect of its messages one after another.
 */
export function changeRuns<Message extends ChangeSet>(messages: readonly Message[]): Message[][] {
  const runs: Message[][] = [];
  let items = new Set<string>();
  for (const message of messages) {
    const { catalogue, changes } = message;
    const run = runs.at(-1);
    const joins =
      run?.[0]?.catalogue === catalogue &&
      items.size + changes.length <= MESSAGE_CHANGES_MAX &&
      changes.every(({ itemId }) => itemId === '' || !items.has(itemId));
    if (joins) {
      run.push(message);
    } else {
      runs.push([message]);
      items = new Set();
    }
    for (const { itemId } of changes) items.add(itemId);
  }
  return runs;
}
