import { REACH_LIMITS } from '@tessera/engine';
import { eligibilityText, type RecallRequest, readEligibility } from '@tessera/recall';
import { randomEligibility } from '@tessera/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachRequestOf } from './domain/request/reach-request.js';

const PREDICATE = 'eligibility.predicate';
const BID = { attribute: 'bid', min: 1 };
const nested = (depth: number): object => (depth === 1 ? BID : { not: nested(depth - 1) });
const asked = (more: Partial<RecallRequest>) => more as RecallRequest;

const NO_VALUATIONS = { valuations: [] };

describe('eligibility as JSON', () => {
  it('is what it was when it has been written and read', () => {
    const property = fc.property(randomEligibility(['a', 'b']), (eligibility) => {
      expect(readEligibility(JSON.parse(eligibilityText(eligibility)))).toEqual(eligibility);
    });
    fc.assert(property, { seed: 20261123, numRuns: 200 });
  });

  it('may have truth values for the texts that attributes of truth values are', () => {
    const { predicate } = readEligibility({ predicate: { attribute: 'new', in: [true, 'x'] } });
    expect(predicate?.values).toEqual(['true', 'x']);
  });

  it('may have integers for IDs', () => {
    const lists = { allowed: [75, 'a'], denied: [76], seen: [77] };
    const read = { allowed: ['75', 'a'], denied: ['76'], seen: ['77'] };
    expect(readEligibility(lists)).toMatchObject(read);
  });

  const refused: readonly (readonly [string, unknown])[] = [
    ['eligibility', []],
    ['eligibility.allow', { allow: [] }],
    ['eligibility.denied', { denied: 'a' }],
    ['eligibility.seen[1]', { seen: ['a', 7.5] }],
    ['eligibility.allowed[0]', { allowed: [2 ** 53] }],
    [PREDICATE, { predicate: [] }],
    [PREDICATE, { predicate: {} }],
    [PREDICATE, { predicate: { all: [], any: [] } }],
    [`${PREDICATE}.some`, { predicate: { some: [] } }],
    [`${PREDICATE}.all`, { predicate: { all: {} } }],
    [`${PREDICATE}.all[1].not`, { predicate: { all: [BID, { not: 7 }] } }],
    [`${PREDICATE}.attribute`, { predicate: { attribute: '' } }],
    [`${PREDICATE}.attribute`, { predicate: { attribute: 7, min: 1 } }],
    [PREDICATE, { predicate: { attribute: 'bid' } }],
    [PREDICATE, { predicate: { attribute: 'bid', in: ['a'], min: 1 } }],
    [PREDICATE, { predicate: { attribute: 'bid', in: ['a'], contains: ['a'] } }],
    [`${PREDICATE}.least`, { predicate: { attribute: 'bid', least: 1 } }],
    [`${PREDICATE}.in`, { predicate: { attribute: 'bid', in: 'a' } }],
    [`${PREDICATE}.contains[1]`, { predicate: { attribute: 'bid', contains: ['a', 1] } }],
    [`${PREDICATE}.min`, { predicate: { attribute: 'bid', min: '1' } }],
    [`${PREDICATE}.max`, { predicate: { attribute: 'bid', max: Number.POSITIVE_INFINITY } }],
    [`${PREDICATE}.min`, { predicate: { attribute: 'bid', min: 2, max: 1 } }],
    [PREDICATE + '.not'.repeat(REACH_LIMITS.clauseDepth), { predicate: nested(17) }],
  ];

  it.each(refused)('is refused at %s: %j', (field, json) => {
    expect(() => readEligibility(json)).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', field }),
    );
  });
});

describe('what a request says of its items', () => {
  const predicate = (json: object) => ({ eligibility: readEligibility({ predicate: json }) });
  const items = new Array<string>(REACH_LIMITS.listItems + 1).fill('a');
  const cap = (attribute: string, maxItems = 1) => ({ attribute, maxItems });
  const policy = (...diversity: { attribute: string; maxItems: number }[]) => ({
    itemPolicy: { orderBy: '', diversity },
  });

  const refused: readonly (readonly [string, Partial<RecallRequest>])[] = [
    [`${PREDICATE}.all[255]`, predicate({ all: new Array(256).fill(BID) })],
    [PREDICATE, predicate({ attribute: 'a', in: new Array(4097).fill('a') })],
    [PREDICATE, predicate({ attribute: 'a', in: ['ä'.repeat(131_072)] })],
    ['eligibility.allowed', { eligibility: readEligibility({ allowed: items }) }],
    ['eligibility.denied', { eligibility: readEligibility({ denied: items }) }],
    ['eligibility.seen', { eligibility: readEligibility({ seen: items }) }],
    ['itemPolicy.diversity', policy(...['a', 'b', 'c', 'd', 'e'].map((name) => cap(name)))],
    ['itemPolicy.diversity[1].attribute', policy(cap('a'), cap('a'))],
    ['itemPolicy.diversity[0].maxItems', policy(cap('a', 0))],
    ['itemPolicy', policy(cap('a'.repeat(4097)))],
  ];

  it.each(refused)('is refused at %s beyond a limit', (field, more) => {
    expect(() => reachRequestOf(asked(more), NO_VALUATIONS)).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', field }),
    );
  });

  it('is taken just within the limits', () => {
    expect(() => reachRequestOf(asked(predicate(nested(16))), NO_VALUATIONS)).not.toThrow();
    expect(() =>
      reachRequestOf(asked(predicate({ all: new Array(255).fill(BID) })), NO_VALUATIONS),
    ).not.toThrow();
  });
});
