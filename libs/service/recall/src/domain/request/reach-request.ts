/** Eligibility and item policy of a request, as the engine takes them. */

import {
  type Catalogue,
  type Clause,
  type CountedCap,
  type ItemPolicy,
  NO_ELIGIBILITY,
  NO_POLICY,
  REACH_LIMITS,
  type ReachRequest,
} from '@tessera/engine';
import { invalid } from './check-source.js';
import type { Eligibility, RecallRequest } from './request-types.js';
import { valuationUse } from './valuations.js';

/**
 * The engine checks the same and what needs the items.
 * @throws TesseraError REQUEST_INVALID with the path of the member at fault
 */
export function reachRequestOf(
  request: Pick<RecallRequest, 'eligibility' | 'itemPolicy' | 'valuation' | 'explore'>,
  { valuations }: Pick<Catalogue, 'valuations'>,
): ReachRequest {
  const { eligibility = NO_ELIGIBILITY, itemPolicy = NO_POLICY } = request;
  const valuation = valuationUse(request.valuation, valuations);
  checkEligibility(eligibility);
  if (eligibility.drawn !== undefined && request.explore === undefined) {
    throw invalid('eligibility.drawn', 'nothing without explore', 'a predicate');
  }
  checkItemPolicy(itemPolicy);
  return { eligibility: { ...eligibility, caps: [] }, itemPolicy, valuation };
}

/** Adds counted caps to the eligibility. */
export function withCaps(asked: ReachRequest, caps: readonly CountedCap[]): ReachRequest {
  return { ...asked, eligibility: { ...asked.eligibility, caps } };
}

function checkEligibility({ predicate, drawn, allowed = [], denied, seen }: Eligibility): void {
  const lists = { allowed, denied, seen };
  for (const [name, list] of Object.entries(lists)) {
    const { listItems } = REACH_LIMITS;
    if (list.length <= listItems) continue;
    throw invalid(`eligibility.${name}`, `at most ${listItems} items`, list.length);
  }
  if (predicate !== undefined) new PredicateCheck().check(predicate, 'eligibility.predicate', 1);
  if (drawn !== undefined) new PredicateCheck().check(drawn, 'eligibility.drawn', 1);
}

class PredicateCheck {
  private clauses = 0;
  private values = 0;
  private textBytes = 0;

  check(clause: Clause, path: string, depth: number): void {
    const { kind, clauses } = clause;
    atMost(path, REACH_LIMITS.clauseDepth, 'clauses deep', depth);
    this.clauses += 1;
    atMost(path, REACH_LIMITS.clauses, 'clauses', this.clauses);
    this.checkTexts(clause, path);
    clauses.forEach((below, index) => {
      this.check(below, kind === 'not' ? `${path}.not` : `${path}.${kind}[${index}]`, depth + 1);
    });
  }

  private checkTexts({ attribute, values }: Clause, path: string): void {
    this.values += values.length;
    atMost(path, REACH_LIMITS.values, 'values', this.values);
    for (const text of [attribute, ...values]) this.textBytes += Buffer.byteLength(text);
    atMost(path, REACH_LIMITS.predicateTextBytes, 'bytes of texts', this.textBytes);
  }
}

function atMost(path: string, max: number, what: string, count: number): void {
  if (count > max) throw invalid(path, `at most ${max} ${what}`, count);
}

/** Path of a member, and the attribute that it names; '': none. */
export type NamedAttribute = readonly [path: string, attribute: string];

export const attributesOfPolicy = ({ orderBy, diversity }: ItemPolicy): NamedAttribute[] => [
  ['itemPolicy.orderBy', orderBy],
  ...diversity.map(({ attribute }, index): NamedAttribute => {
    return [`itemPolicy.diversity[${index}].attribute`, attribute];
  }),
];

function checkItemPolicy(policy: ItemPolicy): void {
  const { diversity } = policy;
  atMost('itemPolicy.diversity', REACH_LIMITS.diversityCaps, 'caps', diversity.length);
  const attributes = diversity.map(({ attribute }) => attribute);
  diversity.forEach(({ attribute, maxItems }, index) => {
    const at = `itemPolicy.diversity[${index}]`;
    if (maxItems < 1) throw invalid(`${at}.maxItems`, 'at least 1', maxItems);
    const first = attributes.indexOf(attribute);
    if (first < index) {
      const another = `another attribute than that of cap ${first}`;
      throw invalid(`${at}.attribute`, another, `'${attribute}'`);
    }
  });
  const names = attributesOfPolicy(policy).map(([, name]) => name);
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  atMost('itemPolicy', REACH_LIMITS.policyTextBytes, 'bytes of names', bytes);
}
