import type { CatalogueAppraisal } from '@tessera/engine';
import type { ItemValue } from '../answer/answer-types.js';

/** @param criticalBid NaN where it is not known */
export function itemValue(
  names: readonly string[],
  terms: ArrayLike<number>,
  { value, pace, criticalBid }: Record<'value' | 'pace' | 'criticalBid', number>,
): ItemValue {
  return {
    value,
    terms: Object.fromEntries(names.map((name, index) => [name, terms[index] ?? 0])),
    pace,
    ...(Number.isFinite(criticalBid) && { criticalBid }),
  };
}

/** A value whose price is not told. */
export const unpriced = (value: ItemValue): ItemValue => ({ ...value, criticalBid: undefined });

/**
 * Values of items by their scores: in the arithmetic of a search, to the last bit.
 * @returns undefined for an item that the valuation excludes, or that is not known
 */
export class AppraisedItems {
  private readonly places: ReadonlyMap<string, number>;

  constructor(
    private readonly appraisal: CatalogueAppraisal,
    itemIds: readonly string[],
  ) {
    this.places = new Map(itemIds.map((itemId, index) => [itemId, index]));
  }

  valueOf(itemId: string, score: number): ItemValue | undefined {
    const { names, terms, paces, sums, headSums, scoreWeight } = this.appraisal;
    const at = this.places.get(itemId) ?? -1;
    const sum = sums[at] ?? Number.NaN;
    if (!Number.isFinite(sum)) return undefined;
    const weighted = Math.fround(Math.fround(scoreWeight) * score);
    const own = terms.subarray(at * names.length, (at + 1) * names.length);
    const base = Math.fround((scoreWeight === 0 ? 0 : weighted) + sum);
    const value = Math.fround(base + (headSums[at] ?? 0));
    if (!Number.isFinite(value)) return undefined;
    return itemValue(names, Float32Array.from(own), {
      value,
      pace: paces[at] ?? 1,
      criticalBid: Number.NaN,
    });
  }

  /** True unless an item of this value is below the floor. */
  passes({ value }: ItemValue): boolean {
    return value >= Math.fround(this.appraisal.floor);
  }

  /** Index of the first term without a number for a single item; -1: each has one. */
  termWithout(): number {
    return this.appraisal.terms.findIndex(Number.isNaN);
  }
}
