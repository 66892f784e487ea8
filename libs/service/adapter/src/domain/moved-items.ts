/** An item that answers of one version have and those of another to the same recalls have not. */
interface MovedItem {
  readonly itemId: string;
  /** Shadowed recalls. */
  readonly recalls: number;
}

/** Items that the canary's answers have more, or less, than those of the active version. */
export interface Moves {
  /** Most recalls first. */
  readonly gained: readonly MovedItem[];
  readonly lost: readonly MovedItem[];
}

/** Items that are told, and that are counted at most: further ones are left out. */
const TOLD_MAX = 20;
const COUNTED_MAX = 10_000;

/** Counts moved items over shadowed recalls. */
export class MovedItems {
  private readonly gained = new Map<string, number>();
  private readonly lost = new Map<string, number>();

  note(canary: readonly string[], active: readonly string[]): void {
    count(this.gained, canary, active);
    count(this.lost, active, canary);
  }

  get moves(): Moves {
    return { gained: most(this.gained), lost: most(this.lost) };
  }
}

function count(counts: Map<string, number>, own: readonly string[], others: readonly string[]) {
  for (const itemId of own) {
    const known = counts.get(itemId);
    if (others.includes(itemId) || (known === undefined && counts.size >= COUNTED_MAX)) continue;
    counts.set(itemId, (known ?? 0) + 1);
  }
}

const most = (counts: ReadonlyMap<string, number>): MovedItem[] =>
  [...counts]
    .map(([itemId, recalls]) => ({ itemId, recalls }))
    .sort((a, b) => b.recalls - a.recalls || (a.itemId < b.itemId ? -1 : 1))
    .slice(0, TOLD_MAX);
