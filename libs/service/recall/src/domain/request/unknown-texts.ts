import type { CatalogueView, Clause } from '@tessera/engine';
import type { Eligibility } from './request-types.js';

/** A clause that names texts, with its path. */
type Leaf = readonly [path: string, clause: Clause];

/**
 * Texts of clauses which no item has or had under the clause's attribute, as `path: text`. An
 * attribute that no item has is told by itself.
 */
export function unknownTexts(
  { predicate, drawn }: Partial<Eligibility>,
  view: CatalogueView,
): string[] {
  const leaves = [
    ...(predicate ? leavesOf(predicate, 'eligibility.predicate') : []),
    ...(drawn ? leavesOf(drawn, 'eligibility.drawn') : []),
  ];
  return leaves.flatMap(([path, { attribute, values }]) => {
    const known = view.knowsTexts(attribute, values);
    return values.flatMap((text, i) => (known[i] === 0 ? [`${path}[${i}]: ${text}`] : []));
  });
}

function leavesOf(clause: Clause, path: string): readonly Leaf[] {
  const { kind, values, clauses } = clause;
  if (values.length > 0) return [[`${path}.${kind}`, clause]];
  return clauses.flatMap((one, i) =>
    leavesOf(one, kind === 'not' ? `${path}.not` : `${path}.${kind}[${i}]`),
  );
}
