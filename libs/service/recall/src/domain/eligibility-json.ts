/** Eligibility as the JSON of docs/concepts/eligibility.md, which HTTP takes and records keep. */

import { clauseJson, FormReader, readClause } from '@tessera/catalogue';
import type { Eligibility } from './recall-types.js';

const reader = new FormReader('REQUEST_INVALID');
const MEMBERS = ['predicate', 'allowed', 'denied', 'seen'];

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
  const { predicate } = json;
  return {
    predicate:
      predicate === undefined ? undefined : readClause(reader, 'eligibility.predicate', predicate),
    allowed: list('allowed'),
    denied: list('denied') ?? [],
    seen: list('seen') ?? [],
  };
}

/** As records keep it. */
export function eligibilityText({ predicate, allowed, denied, seen }: Eligibility): string {
  return JSON.stringify({
    ...(predicate && { predicate: clauseJson(predicate) }),
    ...(allowed && { allowed }),
    ...(denied.length > 0 && { denied }),
    ...(seen.length > 0 && { seen }),
  });
}
