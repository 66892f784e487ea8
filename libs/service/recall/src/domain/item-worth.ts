import type { Catalogue, EngineAnswer, Reach, ReachRequest, Term } from '@tessera/engine';
import type { AppliedValuation, ItemValue, RecallRequest } from './recall-types.js';
import { AppraisedItems, appliedValuation, itemValue, UNPROVED } from './value.js';

/** The reach of a recall by value, without a floor: items below it have values as well. */
export function withoutFloor(asked: ReachRequest): ReachRequest {
  const { valuation } = asked;
  if (valuation === undefined) return asked;
  return { ...asked, valuation: { ...valuation, floor: Number.NEGATIVE_INFINITY } };
}

/** One item in a recall by value, as it is explained. */
export class ItemWorth {
  /** Undefined where the recall goes by score. */
  static async of(
    catalogue: Catalogue,
    { valuation }: RecallRequest,
    reach: Reach,
    itemId: string,
  ): Promise<ItemWorth | undefined> {
    if (valuation === undefined) return undefined;
    const { valuations } = catalogue;
    const { terms = [] } = valuations.find(({ name }) => name === valuation.name) ?? {};
    return new ItemWorth(
      itemId,
      appliedValuation(valuation, valuations, UNPROVED),
      terms,
      new AppraisedItems(catalogue.appraise(reach, [itemId]), [itemId]),
      await catalogue.excludedItems(reach),
    );
  }

  private constructor(
    private readonly itemId: string,
    private readonly formula: AppliedValuation,
    private readonly terms: readonly Term[],
    private readonly appraised: AppraisedItems,
    /** Live and eligible items that the valuation excludes. */
    readonly excludedItems: number,
  ) {}

  /** The attribute for whose sake the valuation excludes the item; undefined: it does not. */
  get exclusion(): string | undefined {
    return this.terms[this.appraised.termWithout()]?.attribute;
  }

  /** Undefined where the answer does not have the item. */
  valueIn({ items, itemTerms }: Pick<EngineAnswer, 'items' | 'itemTerms'>): ItemValue | undefined {
    const names = this.terms.map(({ name }) => name);
    const at = items.findIndex(({ itemId }) => itemId === this.itemId);
    const item = items[at];
    return item && itemValue(names, itemTerms.subarray(at * names.length), item);
  }

  /** The floor that keeps an item of this value out; undefined: none does. */
  floorAbove({ value }: ItemValue): number | undefined {
    const { floor } = this.formula;
    return floor !== undefined && value < Math.fround(floor) ? floor : undefined;
  }
}
