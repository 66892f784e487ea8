/** Heads that rank items (docs/integrate/ranking.md), of a recall or as a caller names them. */

import { type ItemReading, ranksApart, type ServedAdapter } from '@tessera/adapter';
import type { Catalogue, EngineRanking, Formula, Reach, ValuationUse } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { inSlices } from '@tessera/turns';
import type { AppliedRanking, ItemRanking, RecalledItem } from '../answer/answer-types.js';
import { invalid } from '../request/check-source.js';
import type { Rank, RecallContext } from '../request/request-types.js';
import { appliedValuation, BY_HEADS, formulaOf, valuationUse } from '../request/valuations.js';
import { AppraisedItems } from './appraised-items.js';

/** An item with what heads say of it, by which it goes. */
export interface Placed<Item> {
  readonly item: Item;
  readonly ranking: ItemRanking;
  /** NaN: the valuation excludes it. */
  readonly key: number;
}

/** Key that orders an item: its ranking's value or first head, else its value or score. */
export function worthOf(
  { score, value, ranking }: Pick<RecalledItem, 'score' | 'value' | 'ranking'>,
  applied: Pick<AppliedRanking, 'heads'> | undefined,
): number {
  // The order of an object's members is not that of the heads.
  const first = ranking?.heads[applied?.heads[0] ?? ''];
  return ranking?.value?.value ?? first ?? value?.value ?? score;
}

/** A probability whose logit has the recall's score, a log-probability, beside what it was of. */
function withScore(probability: number, weight: number, score = Number.NaN): number {
  if (weight === 0) return probability;
  const odds = (probability / (1 - probability)) * Math.exp(weight * score);
  return odds === Number.POSITIVE_INFINITY ? 1 : odds / (1 + odds);
}

/** The version whose heads rank the items of a request, and by what they go. */
export class Ranker {
  /**
   * @throws TesseraError ADAPTER_NOT_FOUND where no version ranks, REQUEST_INVALID with the path of
   *   the member at fault
   */
  static of(rank: Rank, context: RecallContext, { valuations }: Pick<Catalogue, 'valuations'>) {
    const { ranker, adapter } = context;
    if (ranker === undefined) {
      const message = `rank.adapter: expected a version with heads that serves, got none`;
      throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'rank.adapter' });
    }
    const { reading, engine, name, digest } = ranker;
    const got = `'${name}' ${digest.slice(0, 16)}`;
    if (reading === undefined) {
      throw invalid('rank.adapter', 'a version with heads', `${got}, which has none`);
    }
    if (!ranksApart(engine) && digest !== adapter?.digest) {
      const own = adapter === undefined ? 'the base model' : adapter.digest.slice(0, 16);
      const expected = `the adapter of the request (${own}), an activated one, or heads alone`;
      throw invalid('rank.adapter', expected, got);
    }
    const use = valuationUse(rank.valuation, valuations, 'rank.valuation');
    const formula = rank.valuation && formulaOf(rank.valuation, valuations, 'rank.valuation');
    const stranger = formula?.headTerms.find(({ head }) => !engine.heads.includes(head))?.head;
    if (stranger !== undefined) {
      const expected = `a valuation of the heads of ${got} (${engine.heads.join(', ')})`;
      throw invalid('rank.valuation.name', expected, `one of '${stranger}'`);
    }
    return new Ranker(ranker, reading, rank, valuations, formula, use);
  }

  private constructor(
    private readonly adapter: ServedAdapter,
    private readonly reading: ItemReading,
    private readonly rank: Rank,
    private readonly valuations: readonly Formula[],
    private readonly formula: Formula | undefined,
    /** Undefined: items go by the first head. */
    private readonly asked: ValuationUse | undefined,
  ) {}

  get item(): ItemReading['item'] {
    return this.reading.item;
  }

  /** True if heads or the place of an item depend on its score. */
  get needsScores(): boolean {
    return this.weighsScores || this.reading.scoreWeights.some((weight) => weight !== 0);
  }

  private get weighsScores(): boolean {
    return (this.rank.valuation?.scoreWeight ?? this.formula?.scoreWeight ?? 0) !== 0;
  }

  /** True if tokens behind SIDs are the items' own: they are known when items are found. */
  get readsTexts(): boolean {
    return this.item.suffix === undefined;
  }

  /** Ranking as part of the recall; undefined: items are ranked after they are found. */
  get inRecall(): EngineRanking | undefined {
    return this.readsTexts ? undefined : this.asEngine();
  }

  /** @param suffixes of items, where they have their own */
  asEngine(suffixes?: readonly (readonly number[])[]): EngineRanking {
    const { prefix, suffix = [] } = this.item;
    const { engine: adapter } = this.adapter;
    return { adapter, prefix, suffixes: suffixes ?? (suffix.length === 0 ? [] : [suffix]) };
  }

  /** True if items of a recall are asked about in its version of the catalogue. */
  get needsReach(): boolean {
    return this.readsTexts || this.asked !== undefined;
  }

  /**
   * Items under the valuation, in the version of the reach; undefined: items go by the first head.
   * @param numbers of answers()
   */
  appraise(
    catalogue: Catalogue,
    reach: Reach | undefined,
    itemIds: readonly string[],
    numbers: Float32Array,
  ): AppraisedItems | undefined {
    if (this.asked === undefined || reach === undefined) return undefined;
    const heads = { names: this.adapter.engine.heads, numbers };
    return new AppraisedItems(catalogue.appraise(reach, itemIds, this.asked, heads), itemIds);
  }

  /**
   * Answers of the heads, item by item: their numbers, with the score where a head reads it. NaN
   * where a head has no answer: an item that ended meanwhile has no score.
   * @param numbers as the engine has them
   */
  answers(
    items: readonly { readonly score?: number | undefined }[],
    numbers: Float32Array,
  ): Float32Array {
    const { scoreWeights } = this.reading;
    if (scoreWeights.every((weight) => weight === 0)) return numbers;
    const count = this.adapter.engine.heads.length;
    return numbers.map((number, at) =>
      withScore(number, scoreWeights[at % count] ?? 0, items[Math.floor(at / count)]?.score),
    );
  }

  /**
   * Items with the answers of their heads, in the same order; between turns, as there may be many.
   * @param heads of answers()
   */
  place<Item extends { readonly itemId: string; readonly score?: number | undefined }>(
    items: readonly Item[],
    heads: Float32Array,
    appraised: AppraisedItems | undefined,
  ): Promise<Placed<Item>[]> {
    const names = this.adapter.engine.heads;
    return inSlices(items, (item, index): Placed<Item> => {
      const said: Record<string, number> = {};
      names.forEach((name, at) => {
        const answer = heads[index * names.length + at] ?? Number.NaN;
        if (Number.isFinite(answer)) said[name] = answer;
      });
      const ranking = { heads: said };
      const first = said[names[0] ?? ''] ?? Number.NaN;
      if (this.asked === undefined) return { item, ranking, key: first };
      // An item that ended meanwhile has no score, and one that counts is not to be made up.
      const { itemId, score = this.weighsScores ? Number.NaN : 0 } = item;
      const value = appraised?.valueOf(itemId, score);
      if (value === undefined) return { item, ranking, key: Number.NaN };
      return { item, ranking: { ...ranking, value }, key: value.value };
    });
  }

  /**
   * Best first, ties as they were; without those that the valuation excludes and those below its
   * floor.
   */
  order<Item>(placed: readonly Placed<Item>[]): Placed<Item>[] {
    return placed.filter(({ key }) => key >= this.floor).sort((a, b) => b.key - a.key);
  }

  /** Lowest value of an item that is not left out. */
  get floor(): number {
    const { floor = this.formula?.floor } = this.rank.valuation ?? {};
    return Math.fround(floor ?? Number.NEGATIVE_INFINITY);
  }

  /** @param leftOut of the ranked items */
  applied(items: number, leftOut: number): AppliedRanking {
    const { digest, name, engine } = this.adapter;
    const { valuation } = this.rank;
    return {
      adapter: digest,
      adapterName: name,
      items,
      leftOut,
      heads: engine.heads,
      ...(valuation && {
        valuation: appliedValuation(valuation, this.valuations, BY_HEADS),
      }),
    };
  }
}
