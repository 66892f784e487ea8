import type { WireEligibility, WirePredicate } from '@tessera/contracts';
import type { Clause, Eligibility } from '@tessera/recall';
import { randomEligibility } from '@tessera/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eligibilityFrom } from './eligibility.mapper.js';

/** As a caller writes it. */
function wireClause({ kind, clauses, attribute, values, min, max }: Clause): WirePredicate {
  const bounds = {
    ...(Number.isFinite(min) && { min }),
    ...(Number.isFinite(max) && { max }),
  };
  const forms = {
    all: { all: { predicates: clauses.map(wireClause) } },
    any: { any: { predicates: clauses.map(wireClause) } },
    not: { not: clauses[0] && wireClause(clauses[0]) },
    in: { in: { attribute, values: [...values] } },
    contains: { contains: { attribute, values: [...values] } },
    range: { range: { attribute, ...bounds } },
  };
  return forms[kind] as WirePredicate;
}

function wireEligibility(eligibility: Eligibility): WireEligibility {
  const { predicate, drawn, allowed, denied, seen } = eligibility;
  return {
    predicate: predicate && wireClause(predicate),
    drawn: drawn && wireClause(drawn),
    allowed: allowed && { itemIds: [...allowed] },
    denied: [...denied],
    seen: [...seen],
  };
}

const ofPredicate = (predicate: object): WireEligibility => ({
  predicate: predicate as WirePredicate,
  allowed: undefined,
  denied: [],
  seen: [],
  drawn: undefined,
});

describe('eligibility of the wire', () => {
  it('means the clauses that JSON means', () => {
    const property = fc.property(randomEligibility(['a', 'b']), (eligibility) => {
      const asked = { ...eligibility, drawn: eligibility.predicate };
      expect(eligibilityFrom(wireEligibility(asked))).toEqual(asked);
    });
    fc.assert(property, { seed: 20261123, numRuns: 200 });
  });

  it('has null where the decoder gives it for what is not there', () => {
    const nothing = { all: null, any: null, not: null, in: null, contains: null };
    const message = ofPredicate({ ...nothing, range: { attribute: 'bid', min: 1 } });
    const { predicate, allowed } = eligibilityFrom({ ...message, allowed: null as never });
    expect(predicate).toMatchObject({ kind: 'range', min: 1, max: Number.POSITIVE_INFINITY });
    expect(allowed).toBeUndefined();
  });

  const nested = (depth: number): object =>
    depth === 1 ? { range: { attribute: 'bid', min: 1 } } : { not: nested(depth - 1) };
  const at = 'eligibility.predicate';
  const refused: readonly (readonly [string, object])[] = [
    [at, {}],
    [`${at}.all[0]`, { all: { predicates: [{}] } }],
    [`${at}.attribute`, { in: { attribute: '', values: ['a'] } }],
    [at, { range: { attribute: 'bid' } }],
    [`${at}.min`, { range: { attribute: 'bid', min: Number.NaN } }],
    [`${at}.not.max`, { not: { range: { attribute: 'bid', max: Number.POSITIVE_INFINITY } } }],
    [at + '.not'.repeat(16), nested(500)],
  ];

  it.each(refused)('is refused at %s', (field, predicate) => {
    expect(() => eligibilityFrom(ofPredicate(predicate))).toThrow(
      expect.objectContaining({ code: 'REQUEST_INVALID', field }),
    );
  });
});
