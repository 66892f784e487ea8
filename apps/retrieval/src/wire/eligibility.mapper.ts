/** Eligibility of the wire as the JSON that the engine reads (docs/eligibility.md). */

import type { WireEligibility, WirePredicate } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';

type Json = Readonly<Record<string, unknown>>;

/** Deeper than the engine takes; stops what would nest without end. */
const NESTING_MAX = 64;

function predicateJson(predicate: WirePredicate, depth: number): Json {
  const { all, any, not, in: oneOf, contains, range } = predicate;
  if (depth > NESTING_MAX) {
    const field = 'eligibility.predicate';
    const message = `${field}: expected at most ${NESTING_MAX} clauses inside each other`;
    throw new TesseraError('REQUEST_INVALID', message, { field });
  }
  const list = (predicates: readonly WirePredicate[]) =>
    predicates.map((below) => predicateJson(below, depth + 1));
  if (all !== undefined) return { all: list(all.predicates) };
  if (any !== undefined) return { any: list(any.predicates) };
  if (not !== undefined) return { not: predicateJson(not, depth + 1) };
  if (oneOf !== undefined) return { attribute: oneOf.attribute, in: oneOf.values };
  if (contains !== undefined) return { attribute: contains.attribute, contains: contains.values };
  return { ...range };
}

export function eligibilityText(eligibility: WireEligibility): string {
  const { predicate, allowed, denied, seen } = eligibility;
  return JSON.stringify({
    ...(predicate ? { predicate: predicateJson(predicate, 1) } : {}),
    ...(allowed ? { allowed: allowed.itemIds } : {}),
    denied,
    seen,
  });
}
