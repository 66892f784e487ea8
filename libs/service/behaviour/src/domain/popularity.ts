/** Half of what a behaviour counts is gone after so long. */
export const POPULARITY_HALF_LIFE_MS = 86_400_000;
/** Items that are counted at most; beyond it the least popular half is forgotten. */
const ITEMS_MAX = 200_000;
/** Doublings after which counts are written anew: far below the range of a double. */
const DOUBLINGS_MAX = 500;
/** The order is made anew at most so often. */
const ORDER_MS = 1000;

/**
 * Recent behaviours per item, each by how long ago it was: exact up to 200,000 items, whatever the
 * order in which behaviours arrive. Counts grow with time instead of shrinking, so that none has to
 * be touched but that of an item that somebody did something with.
 */
export class Popularity {
  private counts = new Map<string, number>();
  private total = 0;
  /** Milliseconds since 1970 at which a behaviour counts 1. */
  private originMs: number | undefined;
  private ordered: readonly string[] = [];
  private orderedMs = Number.NEGATIVE_INFINITY;
  private isDirty = false;

  /** @param nowMs milliseconds since 1970 */
  constructor(
    private readonly nowMs: () => number,
    private readonly itemsMax = ITEMS_MAX,
  ) {}

  get itemCount(): number {
    return this.counts.size;
  }

  /** @param timeMs milliseconds since 1970; what is to come counts as what is now */
  add(itemId: string, timeMs: number): void {
    const at = Math.min(timeMs, this.nowMs());
    this.originMs ??= at;
    if (this.doublings(at) > DOUBLINGS_MAX) this.moveOrigin(at);
    const weight = 2 ** this.doublings(at);
    if (weight === 0) return;
    this.counts.set(itemId, (this.counts.get(itemId) ?? 0) + weight);
    this.total += weight;
    this.isDirty = true;
    if (this.counts.size > this.itemsMax) this.forgetHalf();
  }

  /** The most popular first; ties by item ID. Up to a second old. */
  order(): readonly string[] {
    const now = this.nowMs();
    if (this.isDirty && (now - this.orderedMs >= ORDER_MS || this.ordered.length === 0)) {
      this.ordered = this.sorted();
      this.orderedMs = now;
      this.isDirty = false;
    }
    return this.ordered;
  }

  /** Share of the item in all that is counted. */
  shareOf(itemId: string): number {
    return (this.counts.get(itemId) ?? 0) / this.total;
  }

  private sorted(): string[] {
    const entries = [...this.counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    return entries.map(([itemId]) => itemId);
  }

  private doublings(timeMs: number): number {
    return (timeMs - (this.originMs ?? timeMs)) / POPULARITY_HALF_LIFE_MS;
  }

  private moveOrigin(toMs: number): void {
    const factor = 2 ** -this.doublings(toMs);
    const moved = [...this.counts].map(([itemId, count]) => [itemId, count * factor] as const);
    this.keep(moved.filter(([, count]) => count > 0));
    this.originMs = toMs;
  }

  private forgetHalf(): void {
    const kept = this.sorted().slice(0, Math.ceil(this.itemsMax / 2));
    this.keep(kept.map((itemId) => [itemId, this.counts.get(itemId) as number]));
  }

  private keep(counts: readonly (readonly [string, number])[]): void {
    this.counts = new Map(counts);
    this.total = counts.reduce((sum, [, count]) => sum + count, 0);
  }
}
