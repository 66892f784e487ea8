import type { CatalogueView, Clause } from '@tessera/engine';
import { attributesOfPolicy, type NamedAttribute } from './reach-request.js';
import type { RecallRequest } from './request-types.js';

type Naming = Pick<RecallRequest, 'attributes' | 'eligibility' | 'frequencyCaps' | 'itemPolicy'>;

/** Clause of a predicate, with its path. */
type PlacedClause = readonly [path: string, clause: Clause];

/**
 * Members of a request that name an attribute, or a clause's text of one, which no item has or had,
 * as `path: name`. Such a clause is false, such a cap caps nothing: the end of a campaign is no
 * error, and a typing error must not be silent.
 * @param viewOf is asked where a request names any
 */
export function unknownAttributes(request: Naming, viewOf: () => CatalogueView): string[] {
  const clauses = clausesOf(request);
  const named = attributesOf(request, clauses).filter(([, attribute]) => attribute !== '');
  if (named.length === 0) return [];
  const view = viewOf();
  const known = view.knows(named.map(([, attribute]) => attribute));
  return [
    ...named.filter((_, i) => known[i] === 0).map(([path, attribute]) => `${path}: ${attribute}`),
    ...unknownTexts(clauses, view),
  ];
}

function attributesOf(request: Naming, clauses: readonly PlacedClause[]): NamedAttribute[] {
  const { attributes = [], frequencyCaps = [], itemPolicy } = request;
  return [
    ...clauses.map(([path, { attribute }]): NamedAttribute => [`${path}.attribute`, attribute]),
    ...frequencyCaps.map(
      (cap, i): NamedAttribute => [`frequencyCaps[${i}].attribute`, cap.attribute],
    ),
    ...(itemPolicy ? attributesOfPolicy(itemPolicy) : []),
    ...attributes.map((name, i): NamedAttribute => [`attributes[${i}]`, name]),
  ];
}

/** Texts that no item has or had; an attribute that no item has is told by itself. */
function unknownTexts(clauses: readonly PlacedClause[], view: CatalogueView): string[] {
  return clauses.flatMap(([path, { kind, attribute, values }]) => {
    if (values.length === 0) return [];
    const known = view.knowsTexts(attribute, values);
    return values.flatMap((text, i) => (known[i] === 0 ? [`${path}.${kind}[${i}]: ${text}`] : []));
  });
}

function clausesOf({ eligibility }: Naming): readonly PlacedClause[] {
  const { predicate, drawn } = eligibility ?? {};
  return [
    ...(predicate ? withThoseBelow(predicate, 'eligibility.predicate') : []),
    ...(drawn ? withThoseBelow(drawn, 'eligibility.drawn') : []),
  ];
}

function withThoseBelow(clause: Clause, path: string): readonly PlacedClause[] {
  const { kind, clauses } = clause;
  const below = clauses.flatMap((one, i) =>
    withThoseBelow(one, kind === 'not' ? `${path}.not` : `${path}.${kind}[${i}]`),
  );
  return [[path, clause], ...below];
}
