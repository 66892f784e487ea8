/** The items that two answers have in common, and the changes between them. */

/** An item in an answer. */
export interface RankedItem {
  readonly itemId: string;
  readonly title: string;
  /** Rank, from 1. */
  readonly rank: number;
  readonly score: number;
}

export interface ComparedItem {
  readonly itemId: string;
  readonly title: string;
  /** Rank on the left, from 1; absent: the answer lacks the item. */
  readonly leftRank?: number;
  readonly rightRank?: number;
  readonly leftScore?: number;
  readonly rightScore?: number;
}

export interface Comparison {
  /** In the order of the left answer, then the gained ones in that of the right. */
  readonly items: readonly ComparedItem[];
  readonly shared: number;
  readonly lost: number;
  readonly gained: number;
  /** Shared items of all that either has; 1 where neither has any. */
  readonly overlap: number;
  /** Mean distance of the ranks of shared items; 0 where there is none. */
  readonly rankShift: number;
}

export function compareAnswers(
  left: readonly RankedItem[],
  right: readonly RankedItem[],
): Comparison {
  const onRight = new Map(right.map((item) => [item.itemId, item]));
  const onLeft = new Set(left.map((item) => item.itemId));
  const ofLeft = left.map((item): ComparedItem => {
    const { itemId, title, rank: leftRank, score: leftScore } = item;
    const other = onRight.get(itemId);
    return other === undefined
      ? { itemId, title, leftRank, leftScore }
      : { itemId, title, leftRank, leftScore, rightRank: other.rank, rightScore: other.score };
  });
  const gained = right
    .filter((item) => !onLeft.has(item.itemId))
    .map(({ itemId, title, rank, score }) => ({
      itemId,
      title,
      rightRank: rank,
      rightScore: score,
    }));
  const shifts = ofLeft.flatMap(({ leftRank, rightRank }) =>
    leftRank === undefined || rightRank === undefined ? [] : [Math.abs(leftRank - rightRank)],
  );
  const all = ofLeft.length + gained.length;
  return {
    items: [...ofLeft, ...gained],
    shared: shifts.length,
    lost: ofLeft.length - shifts.length,
    gained: gained.length,
    overlap: all === 0 ? 1 : shifts.length / all,
    rankShift: shifts.length === 0 ? 0 : shifts.reduce((sum, one) => sum + one, 0) / shifts.length,
  };
}

/** How often each value of an attribute is among the items of either side. */
export type Distribution = Readonly<
  Record<string, Readonly<Record<string, { readonly left: number; readonly right: number }>>>
>;

/** Values of an attribute that are counted by name; the others are counted together. */
export const VALUES_MAX = 20;
export const OTHER_VALUES = '(others)';

/** Counts attributes that are texts or lists of texts. */
export class AttributeCounts {
  private readonly counts = new Map<string, Map<string, { left: number; right: number }>>();

  add(side: 'left' | 'right', attributes: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(attributes)) {
      const values = (Array.isArray(value) ? value : [value]).filter(
        (one): one is string => typeof one === 'string',
      );
      for (const one of values) this.count(name, one)[side] += 1;
    }
  }

  distribution(): Distribution {
    const entries = [...this.counts].map(([name, values]) => [name, topValues(values)] as const);
    return Object.fromEntries(entries);
  }

  private count(name: string, value: string): { left: number; right: number } {
    const values = this.counts.get(name) ?? new Map();
    this.counts.set(name, values);
    const found = values.get(value) ?? { left: 0, right: 0 };
    values.set(value, found);
    return found;
  }
}

function topValues(values: ReadonlyMap<string, { left: number; right: number }>) {
  const total = ({ left, right }: { left: number; right: number }) => left + right;
  const sorted = [...values].sort(([a, x], [b, y]) => total(y) - total(x) || (a < b ? -1 : 1));
  const named = sorted.slice(0, VALUES_MAX);
  const others = sorted
    .slice(VALUES_MAX)
    .reduce((sum, [, { left, right }]) => ({ left: sum.left + left, right: sum.right + right }), {
      left: 0,
      right: 0,
    });
  const all = total(others) === 0 ? named : [...named, [OTHER_VALUES, others] as const];
  return Object.fromEntries(all);
}
