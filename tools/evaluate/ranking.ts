import { type Rate, rateOf } from '@tessera/analysis';

/** The rank of the target of a user, 1-based; null where it was not among the items. */
export type Rank = number | null;

/** The depths at which quality is reported. */
export const DEPTHS = [5, 10] as const;

export interface Quality {
  /** Share of users whose target is among the first k items. */
  readonly recall: Readonly<Record<number, number>>;
  /** Mean of 1 / log2(rank + 1) over users, 0 beyond k (one relevant item, so the ideal is 1). */
  readonly ndcg: Readonly<Record<number, number>>;
}

/** Rank of the target by the order in which the items were returned. */
export function rankOf(target: string, itemIds: readonly string[]): Rank {
  const at = itemIds.indexOf(target);
  return at < 0 ? null : at + 1;
}

/** Means over all users; a user without an answer counts as a miss. */
export function quality(ranks: readonly Rank[], depths: readonly number[] = DEPTHS): Quality {
  const mean = (value: (rank: number) => number) =>
    ranks.reduce((sum: number, rank) => sum + (rank === null ? 0 : value(rank)), 0) / ranks.length;
  const at = (value: (rank: number, k: number) => number) =>
    Object.fromEntries(depths.map((k) => [k, mean((rank) => (rank <= k ? value(rank, k) : 0))]));
  return { recall: at(() => 1), ndcg: at((rank) => 1 / Math.log2(rank + 1)) };
}

/** Recall@`depth`, with the bounds of its 95 % interval. */
export function recallWithin(ranks: readonly Rank[], depth: number): Rate {
  return rateOf(ranks.filter((rank) => rank !== null && rank <= depth).length, ranks.length);
}

/** Which items answers have, and how targets fare that no history names. */
export interface Breadth {
  /** Items that are among the first 10 of any list. */
  readonly shownItems: number;
  /** Those over the items of the catalogue. */
  readonly coverage: number;
  /** Users whose target is in nobody's history: an item of which the log knows nothing. */
  readonly coldUsers: number;
  readonly coldRecall: Rate;
}

export function breadthOf(
  lists: readonly (readonly string[])[],
  cases: readonly { readonly history: readonly string[]; readonly target: string }[],
  ranks: readonly Rank[],
  catalogueItems: number,
): Breadth {
  const depth = Math.max(...DEPTHS);
  const shown = new Set(lists.flatMap((items) => items.slice(0, depth)));
  const known = new Set(cases.flatMap(({ history }) => history));
  const cold = ranks.filter((_, at) => !known.has(cases[at]?.target ?? ''));
  return {
    shownItems: shown.size,
    coverage: shown.size / Math.max(1, catalogueItems),
    coldUsers: cold.length,
    coldRecall: recallWithin(cold, depth),
  };
}
