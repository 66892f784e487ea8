/** Eligibility and predicates of the wire -> domain. */

import { clauseOf, FormReader } from '@tessera/catalogue';
import type { WireEligibility, WirePredicate } from '@tessera/contracts';
import type { Clause, Eligibility } from '@tessera/recall';

const reader = new FormReader('REQUEST_INVALID');

/** The decoder gives null for a message that is not there. */
function given<T>(message: T | null | undefined): message is T {
  return message !== undefined && message !== null;
}

/**
 * @param path of the predicate
 * @param depth of the clause, the outermost being 1
 * @throws TesseraError with the code of `refusing` and the path of the member at fault
 */
export function clauseFrom(
  predicate: WirePredicate,
  path: string,
  refusing: FormReader,
  depth = 1,
): Clause {
  refusing.depth(path, depth);
  const { all, any, not, in: oneOf, contains, range } = predicate;
  const below = (each: WirePredicate, at: string) => clauseFrom(each, at, refusing, depth + 1);
  const list = (kind: 'all' | 'any', predicates: readonly WirePredicate[]) =>
    clauseOf(kind, {
      clauses: predicates.map((each, index) => below(each, `${path}.${kind}[${index}]`)),
    });
  if (given(all)) return list('all', all.predicates);
  if (given(any)) return list('any', any.predicates);
  if (given(not)) return clauseOf('not', { clauses: [below(not, `${path}.not`)] });
  const leaf = oneOf ?? contains ?? range;
  if (!given(leaf)) refusing.refuse(path, 'one of all, any, not, in, contains and range', 'none');
  const attribute = refusing.attribute(path, leaf?.attribute);
  if (given(oneOf)) return clauseOf('in', { attribute, values: oneOf.values });
  if (given(contains)) return clauseOf('contains', { attribute, values: contains.values });
  return refusing.range(path, attribute, range ?? {});
}

/** @throws TesseraError REQUEST_INVALID with the path of the member at fault */
export function eligibilityFrom(message: WireEligibility): Eligibility {
  const { allowed, denied, seen } = message;
  const clause = (name: 'predicate' | 'drawn') => {
    const asked = message[name];
    return given(asked) ? clauseFrom(asked, `eligibility.${name}`, reader) : undefined;
  };
  return {
    predicate: clause('predicate'),
    drawn: clause('drawn'),
    allowed: given(allowed) ? allowed.itemIds : undefined,
    denied,
    seen,
  };
}
