import { FormReader } from '@tessera/catalogue';
import { randomEligibility } from '@tessera/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clauseFrom } from '../../apps/retrieval/src/wire/eligibility.mapper.js';
import { wirePredicate } from './wire-predicate.js';

it('says in the words of the wire what the service reads back as the same clause', () => {
  const property = fc.property(randomEligibility(['a']), ({ predicate }) => {
    fc.pre(predicate !== undefined);
    const wire = wirePredicate(predicate) as Parameters<typeof clauseFrom>[0];
    const reader = new FormReader('CATALOGUE_INVALID');
    expect(clauseFrom(wire, 'predicate', reader)).toEqual(predicate);
  });
  fc.assert(property, { seed: 20261123, numRuns: 100 });
});
