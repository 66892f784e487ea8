interface Placed {
  readonly itemId: string;
  readonly title: string;
  readonly sid: readonly number[];
}

export interface Neighbour extends Placed {
  /** First codes that it has in common. */
  readonly sharedLevels: number;
}

function shared(a: readonly number[], b: readonly number[]): number {
  const end = a.findIndex((code, level) => code !== b[level]);
  return end < 0 ? a.length : end;
}

/** Items with the most first codes in common with a place of the tree, one after the other. */
export class Nearest {
  private readonly byLevels = new Map<number, Neighbour[]>();

  constructor(
    private readonly of: Placed,
    private readonly count: number,
  ) {}

  add(item: Placed): void {
    const sharedLevels = shared(this.of.sid, item.sid);
    if (sharedLevels === 0 || item.itemId === this.of.itemId) return;
    const found = this.byLevels.get(sharedLevels) ?? [];
    this.byLevels.set(sharedLevels, found);
    const { itemId, title, sid } = item;
    if (found.length < this.count) found.push({ itemId, title, sid, sharedLevels });
  }

  /** Nearest first. */
  found(): readonly Neighbour[] {
    const levels = [...this.byLevels.keys()].sort((a, b) => b - a);
    return levels.flatMap((level) => this.byLevels.get(level) ?? []).slice(0, this.count);
  }
}
