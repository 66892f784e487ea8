import type { RecordedRecall } from '../../../src/api-types.js';
import { partsOf } from './value-bar.js';

type Item = NonNullable<RecordedRecall['answer']>['items'][number];

/** A part of two items' places: what each has of it, and by how much they differ. */
export interface Difference {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly difference: number;
}

/** The value by which the answer went, by its parts; a likelihood alone where it had none. */
function sharesOf({ ranking, value, score }: Item): ReadonlyMap<string, number> {
  const worth = ranking?.value ?? value;
  return new Map(worth === undefined ? [['score', score]] : partsOf(worth));
}

/** Term by term, the largest difference first; the last row is their sum. */
export function differencesOf(left: Item, right: Item): readonly Difference[] {
  const [ours, theirs] = [sharesOf(left), sharesOf(right)];
  const of = (name: string, a: number, b: number) => ({
    name,
    left: a,
    right: b,
    difference: a - b,
  });
  const parts = [...new Set([...ours.keys(), ...theirs.keys()])].map((name) =>
    of(name, ours.get(name) ?? 0, theirs.get(name) ?? 0),
  );
  parts.sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
  const sum = (shares: ReadonlyMap<string, number>) =>
    [...shares.values()].reduce((total, amount) => total + amount, 0);
  return [...parts, of('together', sum(ours), sum(theirs))];
}
