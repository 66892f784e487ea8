import type { CatalogueView, Clause } from '@tessera/engine';
import { attributesOfPolicy, type NamedAttribute } from './reach-request.js';
import type { RecallRequest } from './request-types.js';
import { unknownTexts } from './unknown-texts.js';

type Naming = Pick<RecallRequest, 'attributes' | 'eligibility' | 'frequencyCaps' | 'itemPolicy'>;

/**
 * Members of a request that name an attribute, or a clause's text of one, which no item has or had,
 * as `path: name`. Such a clause is false, such a cap caps nothing: the end of a campaign is no
 * error, and a typing error must not be silent.
 * @param viewOf is asked where a request names any
 */
export function unknownAttributes(request: Naming, viewOf: () => CatalogueView): string[] {
  const named = attributesOf(request).filter(([, attribute]) => attribute !== '');
  if (named.length === 0) return [];
  const view = viewOf();
  const known = view.knows(named.map(([, attribute]) => attribute));
  return [
    ...named.filter((_, i) => known[i] === 0).map(([path, attribute]) => `${path}: ${attribute}`),
    ...unknownTexts(request.eligibility ?? {}, view),
  ];
}

function attributesOf(request: Naming): readonly NamedAttribute[] {
  const { attributes = [], eligibility, frequencyCaps = [], itemPolicy } = request;
  const { predicate, drawn } = eligibility ?? {};
  return [
    ...(predicate ? ofClause(predicate, 'eligibility.predicate') : []),
    ...(drawn ? ofClause(drawn, 'eligibility.drawn') : []),
    ...frequencyCaps.map(
      (cap, i): NamedAttribute => [`frequencyCaps[${i}].attribute`, cap.attribute],
    ),
    ...(itemPolicy ? attributesOfPolicy(itemPolicy) : []),
    ...attributes.map((name, i): NamedAttribute => [`attributes[${i}]`, name]),
  ];
}

function ofClause({ kind, attribute, clauses }: Clause, path: string): readonly NamedAttribute[] {
  const below = clauses.flatMap((one, i) =>
    ofClause(one, kind === 'not' ? `${path}.not` : `${path}.${kind}[${i}]`),
  );
  return [[`${path}.attribute`, attribute], ...below];
}
