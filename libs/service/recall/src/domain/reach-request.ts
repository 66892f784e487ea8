/** Eligibility and item policy of a request, as the engine takes them. */

import { clauseJson, FormReader, readClause } from '@tessera/catalogue';
import {
  type Catalogue,
  type Clause,
  type CountedCap,
  type ItemPolicy,
  type ListedItem,
  NO_ELIGIBILITY,
  NO_POLICY,
  REACH_LIMITS,
  type Reach,
  type ReachRequest,
} from '@tessera/engine';
import { invalid } from './check-request.js';
import type { Eligibility, RecallRequest } from './recall-types.js';
import { valuationUse } from './value.js';

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

/** The same, without what is had often enough. */
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

/** Of no item: the version is asked for, not what became of one. */
const NO_ITEM_ID = '';

/**
 * A version of the catalogue with what a request may get of it and by what. Rejects with
 * CATALOGUE_NOT_FOUND where it is not kept, and with REQUEST_INVALID.
 */
export async function pinVersion(
  catalogue: Catalogue,
  request: RecallRequest,
  sequence: number,
): Promise<Reach> {
  const asked = { request: reachRequestOf(request, catalogue), itemId: NO_ITEM_ID, sequence };
  return (await catalogue.judge(asked)).reach;
}

/** Caps of items of a SID and of items that share a value, as an export of found paths has them. */
export class CapCount {
  /** Items that a diversity cap kept out. */
  leftOut = 0;
  private readonly taken = new Map<string, number>();

  /** @param itemsPerSid 0: no cap */
  constructor(
    private readonly policy: ItemPolicy,
    private readonly itemsPerSid: number,
  ) {}

  get isEmpty(): boolean {
    return this.policy.diversity.length === 0 && this.itemsPerSid === 0;
  }

  /** Counts the item, unless a cap keeps it out. */
  take({ sid, attributes }: ListedItem): boolean {
    const ofSid = `sid ${sid.join()}`;
    if (this.itemsPerSid > 0 && this.countOf(ofSid) >= this.itemsPerSid) return false;
    const values = JSON.parse(attributes) as Record<string, unknown>;
    const capped = this.policy.diversity.flatMap(({ attribute, maxItems }) => {
      const value = values[attribute];
      const isText = typeof value === 'string' || typeof value === 'boolean';
      return isText ? [{ key: JSON.stringify([attribute, String(value)]), maxItems }] : [];
    });
    if (capped.some(({ key, maxItems }) => this.countOf(key) >= maxItems)) {
      this.leftOut += 1;
      return false;
    }
    for (const key of [ofSid, ...capped.map((each) => each.key)]) {
      this.taken.set(key, this.countOf(key) + 1);
    }
    return true;
  }

  private countOf(key: string): number {
    return this.taken.get(key) ?? 0;
  }
}

const reader = new FormReader('REQUEST_INVALID');
const MEMBERS = ['predicate', 'allowed', 'denied', 'seen', 'drawn'];

/** @throws TesseraError REQUEST_INVALID with the path of the member at fault */
export function readEligibility(value: unknown): Eligibility {
  const json = reader.object('eligibility', value);
  const stranger = Object.keys(json).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined) {
    reader.refuse(`eligibility.${stranger}`, MEMBERS.join(', '), `'${stranger}'`);
  }
  const list = (name: 'allowed' | 'denied' | 'seen') =>
    json[name] === undefined
      ? undefined
      : reader.texts(`eligibility.${name}`, json[name], 'an item ID');
  const clause = (name: 'predicate' | 'drawn') =>
    json[name] === undefined ? undefined : readClause(reader, `eligibility.${name}`, json[name]);
  return {
    predicate: clause('predicate'),
    drawn: clause('drawn'),
    allowed: list('allowed'),
    denied: list('denied') ?? [],
    seen: list('seen') ?? [],
  };
}

/** As records keep it. */
export function eligibilityText(eligibility: Eligibility): string {
  const { predicate, drawn, allowed, denied, seen } = eligibility;
  return JSON.stringify({
    ...(predicate && { predicate: clauseJson(predicate) }),
    ...(drawn && { drawn: clauseJson(drawn) }),
    ...(allowed && { allowed }),
    ...(denied.length > 0 && { denied }),
    ...(seen.length > 0 && { seen }),
  });
}
