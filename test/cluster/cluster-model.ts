/** Model of a cluster's content, by the answers of its callers; an unanswered call is in doubt. */

export interface ItemState {
  readonly title: string;
  /** Sum of the deltas. */
  readonly count: number;
  readonly priority: number;
  readonly isPaused: boolean;
}

/** Undefined: the item is not there. */
export type MaybeItem = ItemState | undefined;
export type ItemChange = (before: MaybeItem) => MaybeItem;

interface KnownItem {
  state: MaybeItem;
  /** Changes that may have been made, or may yet be, one of them at most. */
  doubt: ItemChange | undefined;
}

export interface ModelUser {
  readonly userId: string;
  /** Somebody has asked for the erasure: it may have happened. */
  isGoing: boolean;
  /** It was acknowledged. */
  isErased: boolean;
}

const textOf = (item: MaybeItem) =>
  item === undefined
    ? 'not there'
    : JSON.stringify([item.title, item.count, item.priority, item.isPaused]);

export class ClusterModel {
  readonly items = new Map<string, KnownItem>();
  readonly users: ModelUser[] = [];

  known(itemId: string): KnownItem {
    const found = this.items.get(itemId) ?? { state: undefined, doubt: undefined };
    this.items.set(itemId, found);
    return found;
  }

  acknowledged(itemId: string, change: ItemChange): void {
    const item = this.known(itemId);
    item.state = change(item.state);
  }

  doubted(itemId: string, change: ItemChange): void {
    this.known(itemId).doubt = change;
  }

  /** Differences between found and expected items; found ones settle all doubts. */
  settle(found: ReadonlyMap<string, ItemState>): string[] {
    const faults: string[] = [];
    for (const [itemId, item] of this.items) {
      const got = textOf(found.get(itemId));
      const allowed = [textOf(item.state)];
      if (item.doubt !== undefined) allowed.push(textOf(item.doubt(item.state)));
      if (!allowed.includes(got)) {
        faults.push(`item ${itemId}: expected ${allowed.join(' or ')}, got ${got}`);
      }
      item.state = found.get(itemId);
      item.doubt = undefined;
    }
    for (const itemId of found.keys()) {
      if (!this.items.has(itemId)) faults.push(`item ${itemId}: expected none, got one`);
    }
    return faults;
  }
}
