import type { Rate } from '@tessera/analysis';
import type { Case } from './cases.js';
import { type MaskedLists, maskedLists, type RankedLists } from './lists.js';
import { breadthOf, DEPTHS, quality, type Rank, rankOf, recallWithin } from './ranking.js';

const Z = 1.959964;
const DEPTH = Math.max(...DEPTHS);

/** Mean over the same users of both, with the bounds of its 95 % interval. */
interface Difference {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Recall@10 of some ranks minus that of others, user by user. */
export function difference(ranks: readonly Rank[], ours: readonly Rank[]): Difference {
  const isHit = (rank: Rank | undefined) => Number(rank != null && rank <= DEPTH);
  const each = ranks.map((rank, user) => isHit(rank) - isHit(ours[user]));
  const mean = each.reduce((sum, one) => sum + one, 0) / each.length;
  const variance = each.reduce((sum, one) => sum + (one - mean) ** 2, 0) / each.length;
  const half = Z * Math.sqrt(variance / each.length);
  return { mean, low: mean - half, high: mean + half };
}

/** The measure of all systems. */
export interface Judged {
  readonly cases: readonly Case[];
  /** Items of the lists that the catalogue does not have. */
  readonly unknown: ReadonlySet<string>;
  readonly catalogueItems: number;
  readonly isUnseen: boolean;
}

/** A row for each system: the same users, masks and depths as the service's. */
export function sideBySide(
  systems: ReadonlyMap<string, RankedLists>,
  ours: readonly Rank[],
  judged: Judged,
) {
  const { cases, unknown, catalogueItems, isUnseen } = judged;
  return [...systems].map(([system, given]) => {
    const masked = maskedLists(given, cases, unknown, isUnseen);
    const ranks = cases.map(({ target }, user) => rankOf(target, masked.lists[user] ?? []));
    const { usersWithout, otherUsers, unknownItems }: MaskedLists = masked;
    return {
      system,
      ...quality(ranks),
      recallWithin: Object.fromEntries(DEPTHS.map((k) => [k, recallWithin(ranks, k)])),
      ...breadthOf(masked.lists, cases, ranks, catalogueItems),
      minusOurs: difference(ranks, ours),
      usersWithout,
      otherUsers,
      unknownItems,
    };
  });
}

type OfSystem = ReturnType<typeof sideBySide>[number];

/** The figures that every row has. */
export type Figures = Pick<
  OfSystem,
  'system' | 'ndcg' | 'recallWithin' | 'coverage' | 'coldRecall'
>;

const COUNTS = ['usersWithout', 'otherUsers', 'unknownItems'] as const;
const fixed = (value: number) => value.toFixed(4);
const range = (value: number, low: number, high: number) =>
  `${fixed(value)} (${fixed(low)} to ${fixed(high)})`;
const rateText = (rate: Rate | undefined) =>
  rate === undefined ? '' : range(rate.rate, rate.low, rate.high);

/** A table, the service's row first. */
export function describeSystems(ours: Figures, systems: readonly OfSystem[]): string {
  const rowOf = (figures: Figures, minusOurs: string, counts: readonly string[]) => [
    figures.system,
    ...DEPTHS.flatMap((k) => [rateText(figures.recallWithin[k]), fixed(figures.ndcg[k] ?? 0)]),
    minusOurs,
    `${(100 * figures.coverage).toFixed(1)} %`,
    fixed(figures.coldRecall.rate),
    ...counts,
  ];
  const rows = [
    [
      'system',
      ...DEPTHS.flatMap((k) => [`Recall@${k}`, `NDCG@${k}`]),
      `Recall@${DEPTH} - ours`,
      ...['coverage', `cold@${DEPTH}`, 'without', 'others', 'unknown'],
    ],
    rowOf(ours, '', ['', '', '']),
    ...systems.map((one) => {
      const { mean, low, high } = one.minusOurs;
      return rowOf(
        one,
        range(mean, low, high),
        COUNTS.map((name) => String(one[name])),
      );
    }),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths?.[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [
    ...lines,
    'without: asked users of whom a system has no list (misses); others: its lists of users who',
    'are not asked; unknown: places of items that the catalogue does not have (left out)',
  ].join('\n');
}
