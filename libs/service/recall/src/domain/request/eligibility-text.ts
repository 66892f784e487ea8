/** Eligibility as a JSON text, in records and on command lines. */

import { clauseJson, FormReader, readClause } from '@tessera/catalogue';
import type { Eligibility } from './request-types.js';

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
    json[name] === undefined ? undefined : reader.ids(`eligibility.${name}`, json[name]);
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

/** Eligibility as records keep it. */
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
