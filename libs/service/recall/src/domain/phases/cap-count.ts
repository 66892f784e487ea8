import type { ItemPolicy, ListedItem } from '@tessera/engine';

/** Caps of items of a SID and of items that share a value, as an export of found paths has them. */
export class CapCount {
  /** Items that a diversity cap kept out. */
  leftOut = 0;
  private readonly taken = new Map<string, number>();

  /** @param itemsPerSid 0: no cap */
  constructor(
    private readonly policy: ItemPolicy,
    private readonly itemsPerSid: number,
  ) {}

  get isEmpty(): boolean {
    return this.policy.diversity.length === 0 && this.itemsPerSid === 0;
  }

  /** Counts the item, unless a cap keeps it out. */
  take({ sid, attributes }: ListedItem): boolean {
    const ofSid = `sid ${sid.join()}`;
    if (this.itemsPerSid > 0 && this.countOf(ofSid) >= this.itemsPerSid) return false;
    const values = JSON.parse(attributes) as Record<string, unknown>;
    const capped = this.policy.diversity.flatMap(({ attribute, maxItems }) => {
      const value = values[attribute];
      const isText = typeof value === 'string' || typeof value === 'boolean';
      return isText ? [{ key: JSON.stringify([attribute, String(value)]), maxItems }] : [];
    });
    if (capped.some(({ key, maxItems }) => this.countOf(key) >= maxItems)) {
      this.leftOut += 1;
      return false;
    }
    for (const key of [ofSid, ...capped.map((each) => each.key)]) {
      this.taken.set(key, this.countOf(key) + 1);
    }
    return true;
  }

  private countOf(key: string): number {
    return this.taken.get(key) ?? 0;
  }
}
