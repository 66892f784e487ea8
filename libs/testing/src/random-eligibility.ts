import type { Clause, Eligibility } from '@tessera/engine';
import fc from 'fast-check';

/** Typed attributes of an item that random clauses ask about. */
export interface TypedAttributes {
  readonly country?: string;
  readonly labels?: readonly string[];
  readonly bid?: number;
}

const COUNTRIES = ['de', 'Österreich', '日本', '', 'fr'];
const LABELS = ['new', 'sale', 'naïve', '🙂'];

const option = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

/** Ready to be written as the JSON of an item. */
export const randomAttributes: fc.Arbitrary<TypedAttributes> = fc.record(
  {
    country: fc.constantFrom(...COUNTRIES),
    labels: fc.uniqueArray(fc.constantFrom(...LABELS), { minLength: 1 }),
    bid: fc.integer({ min: -8, max: 8 }).map((eighths) => eighths / 8),
  },
  { requiredKeys: [] },
);

const NOTHING = { attribute: '', values: [], clauses: [] };
const UNBOUNDED = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };

const texts = (kind: 'in' | 'contains', attribute: string, values: readonly string[]) =>
  fc
    .array(fc.constantFrom(...values, 'never'))
    .map((some): Clause => ({ ...NOTHING, ...UNBOUNDED, kind, attribute, values: some }));

const bound = option(fc.integer({ min: -10, max: 10 }).map((eighths) => eighths / 8));
const ranges = fc
  .tuple(bound, bound)
  .filter(([min, max]) => min !== undefined || max !== undefined)
  .filter(([min = UNBOUNDED.min, max = UNBOUNDED.max]) => min <= max)
  .map(
    ([min = UNBOUNDED.min, max = UNBOUNDED.max]): Clause => ({
      ...NOTHING,
      kind: 'range',
      attribute: 'bid',
      min,
      max,
    }),
  );

const { clause } = fc.letrec<{ clause: Clause; inner: Clause }>((tie) => ({
  inner: fc
    .tuple(fc.constantFrom('all', 'any', 'not'), fc.array(tie('clause'), { maxLength: 3 }))
    .filter(([kind, clauses]) => kind !== 'not' || clauses.length > 0)
    .map(([kind, clauses]) => ({
      ...NOTHING,
      ...UNBOUNDED,
      kind,
      clauses: kind === 'not' ? clauses.slice(0, 1) : clauses,
    })),
  clause: fc.oneof(
    { maxDepth: 5 },
    texts('in', 'country', COUNTRIES),
    texts('contains', 'labels', LABELS),
    ranges,
    tie('inner'),
  ),
}));

type Asked = Omit<Eligibility, 'caps'>;

/** Over items of these IDs, as a request names it: without frequency caps. */
export function randomEligibility(itemIds: readonly string[]): fc.Arbitrary<Asked> {
  const list = fc.array(fc.constantFrom(...itemIds, 'never-was'));
  return fc.record({
    predicate: option(clause),
    allowed: option(list),
    denied: list,
    seen: list,
    drawn: fc.constant(undefined),
  });
}

/** True if the clause holds, by the rules of docs/concepts/eligibility.md. */
function holds(clause: Clause, attributes: TypedAttributes): boolean {
  const { kind, clauses, values, min, max } = clause;
  const { country, labels = [], bid = Number.NaN } = attributes;
  switch (kind) {
    case 'all':
      return clauses.every((below) => holds(below, attributes));
    case 'any':
      return clauses.some((below) => holds(below, attributes));
    case 'not':
      return !clauses.some((below) => holds(below, attributes));
    case 'in':
      return country !== undefined && values.includes(country);
    case 'contains':
      return labels.some((label) => values.includes(label));
    case 'range':
      return bid >= min && bid <= max;
  }
}

/** True if a request may get the item. */
export function mayBeHad(
  { predicate, allowed, denied, seen }: Asked,
  itemId: string,
  attributes: TypedAttributes,
): boolean {
  const isListed = allowed?.includes(itemId) ?? true;
  const isKept = !denied.includes(itemId) && !seen.includes(itemId);
  return isListed && isKept && (predicate === undefined || holds(predicate, attributes));
}
