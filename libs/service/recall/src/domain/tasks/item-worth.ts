import type { Catalogue, EngineAnswer, Reach, ReachRequest, Term } from '@tessera/engine';
import { type AppliedValuation, type ItemValue, isDrawn } from '../answer/answer-types.js';
import { AppraisedItems, itemValue } from '../phases/appraised-items.js';
import type { RecallRequest } from '../request/request-types.js';
import { appliedValuation, UNPROVED } from '../request/valuations.js';

/** The reach of a recall by value, without a floor: items below it have values as well. */
export function withoutFloor(asked: ReachRequest): ReachRequest {
  const { valuation } = asked;
  if (valuation === undefined) return asked;
  return { ...asked, valuation: { ...valuation, floor: Number.NEGATIVE_INFINITY } };
}

/** Value of one item in a recall, for an explanation. */
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
    const formula = valuations.find(({ name }) => name === valuation.name);
    return new ItemWorth(
      itemId,
      appliedValuation(valuation, valuations, UNPROVED),
      formula?.terms ?? [],
      formula?.bid ?? '',
      new AppraisedItems(catalogue.appraise(reach, [itemId]), [itemId]),
      await catalogue.excludedItems(reach),
    );
  }

  private constructor(
    private readonly itemId: string,
    private readonly formula: AppliedValuation,
    private readonly terms: readonly Term[],
    /** Name of the term that is the bid; '': none is. */
    private readonly bid: string,
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

  /**
   * The lowest bid with which its value would be no lower than that of the last item which the
   * answer has by value, nor than the floor; undefined where the answer is not full, or no bid
   * would do.
   */
  bidAgainst({ items }: Pick<EngineAnswer, 'items'>, own: ItemValue): number | undefined {
    const last = fixedOf(items).at(-1);
    const term = this.terms.find(({ name }) => name === this.bid);
    const weight = this.formula.weights[this.bid] ?? 0;
    if (last === undefined || term === undefined || weight <= 0) return undefined;
    const wanted = Math.max(last.value, this.formula.floor ?? Number.NEGATIVE_INFINITY);
    const lacking = wanted - own.value;
    if (lacking <= 0) return undefined;
    const bid = inverse(term, ((own.terms[this.bid] ?? 0) + lacking) / weight) / own.pace;
    return Number.isFinite(bid) ? Math.max(0, bid) : undefined;
  }

  /** The floor that keeps an item of this value out; undefined: none does. */
  floorAbove({ value }: ItemValue): number | undefined {
    const { floor } = this.formula;
    return floor !== undefined && value < Math.fround(floor) ? floor : undefined;
  }
}

/** The attribute of which a term's function makes the number. */
function inverse({ function: named, min, max }: Term, wanted: number): number {
  if (named === 'log') return Math.exp(wanted);
  if (named === 'log1p') return Math.expm1(wanted);
  if (named === 'identity') return wanted;
  return wanted <= min || wanted > max ? Number.NaN : wanted;
}

/** Items that were not drawn. */
const fixedOf = (items: EngineAnswer['items']) => items.filter((item) => !isDrawn(item));
