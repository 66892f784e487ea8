/** Eligibility of the wire as the JSON that the engine reads (docs/eligibility.md). */

import type { WireEligibility, WirePredicate } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';

type Json = Readonly<Record<string, unknown>>;

/** Deeper than the engine takes; stops what would nest without end. */
const NESTING_MAX = 64;

/**
 * @param field its path
 * @param depth of the clause, the outermost being 1
 * @throws TesseraError REQUEST_INVALID where it nests too deep
 */
export function predicateJson(predicate: WirePredicate, field: string, depth = 1): Json {
  const { all, any, not, in: oneOf, contains, range } = predicate;
  if (depth > NESTING_MAX) {
    const message = `${field}: expected at most ${NESTING_MAX} clauses inside each other`;
    throw new TesseraError('REQUEST_INVALID', message, { field });
  }
  const list = (predicates: readonly WirePredicate[]) =>
    predicates.map((below) => predicateJson(below, field, depth + 1));
  if (all !== undefined) return { all: list(all.predicates) };
  if (any !== undefined) return { any: list(any.predicates) };
  if (not !== undefined) return { not: predicateJson(not, field, depth + 1) };
  if (oneOf !== undefined) return { attribute: oneOf.attribute, in: oneOf.values };
  if (contains !== undefined) return { attribute: contains.attribute, contains: contains.values };
  return { ...range };
}

export function eligibilityText(eligibility: WireEligibility): string {
  const { predicate, allowed, denied, seen } = eligibility;
  return JSON.stringify({
    ...(predicate ? { predicate: predicateJson(predicate, 'eligibility.predicate') } : {}),
    ...(allowed ? { allowed: allowed.itemIds } : {}),
    denied,
    seen,
  });
}
