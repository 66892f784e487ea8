import { type Measurement, quantile } from '../../result.js';

const MS_PER_SECOND = 1000;

/** Times of all texts in one type of arithmetic, one per turn. */
export interface Timed {
  readonly name: string;
  readonly milliseconds: readonly number[];
}

/** Texts a second of each type, and what it takes of the time of the type before it. */
export function rateRows(prefix: string, texts: number, all: readonly Timed[]): Measurement[] {
  const medians = all.map(({ milliseconds }) => quantile(milliseconds, 0.5));
  return all.flatMap(({ name }, at): Measurement[] => {
    const value = medians[at] ?? Number.NaN;
    const before = all[at - 1];
    const row = { name: `${prefix}: ${name}`, unit: 'texts/s', bar: null };
    const rate = { ...row, value: (MS_PER_SECOND * texts) / value };
    if (before === undefined) return [rate];
    const ratio = { value: value / (medians[at - 1] ?? Number.NaN), to: before.name };
    return [rate, { name: `${row.name}, time`, value, unit: 'ms', ratio, bar: null }];
  });
}

type Vectors = readonly ArrayLike<number>[];

/** Of the vectors of a text, the farthest apart; 0 where one side has not all of them. */
export function lowestCosine(one: Vectors, other: Vectors): number {
  if (one.length !== other.length) return 0;
  return Math.min(...one.map((vector, at) => cosine(vector, other[at] ?? [])));
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    product += (a[i] as number) * (b[i] ?? 0);
    aa += (a[i] as number) ** 2;
    bb += (b[i] ?? 0) ** 2;
  }
  return product / Math.sqrt(aa * bb);
}
