import type { ItemPolicy, ListedItem } from '@tessera/engine';

export interface CapRefusal {
  readonly verdict: 'behind-sid-cap' | 'behind-diversity-cap';
  /** Attribute of the diversity cap. */
  readonly attribute?: string;
}

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

  /** @returns undefined where the item is counted, else the cap that keeps it out */
  refusal({ sid, attributes }: ListedItem): CapRefusal | undefined {
    const ofSid = `sid ${sid.join()}`;
    if (this.itemsPerSid > 0 && this.countOf(ofSid) >= this.itemsPerSid) {
      return { verdict: 'behind-sid-cap' };
    }
    const values = JSON.parse(attributes) as Record<string, unknown>;
    const capped = this.policy.diversity.flatMap(({ attribute, maxItems }) => {
      const value = values[attribute];
      const isText = typeof value === 'string' || typeof value === 'boolean';
      return isText
        ? [{ attribute, key: JSON.stringify([attribute, String(value)]), maxItems }]
        : [];
    });
    const full = capped.find(({ key, maxItems }) => this.countOf(key) >= maxItems);
    if (full !== undefined) {
      this.leftOut += 1;
      return { verdict: 'behind-diversity-cap', attribute: full.attribute };
    }
    for (const key of [ofSid, ...capped.map((each) => each.key)]) {
      this.taken.set(key, this.countOf(key) + 1);
    }
    return undefined;
  }

  private countOf(key: string): number {
    return this.taken.get(key) ?? 0;
  }
}
