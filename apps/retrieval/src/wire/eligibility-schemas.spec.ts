import { eligibilityText, readEligibility } from '@tessera/recall';
import { randomEligibility } from '@tessera/testing';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ELIGIBILITY_SCHEMAS } from './eligibility-schemas.js';

const ajv = new Ajv({ strict: false });
ajv.addSchema({ components: { schemas: ELIGIBILITY_SCHEMAS } }, 'document');
const allows = ajv.compile({ $ref: 'document#/components/schemas/Eligibility' });

function isRead(value: unknown): boolean {
  try {
    readEligibility(value);
    return true;
  } catch {
    return false;
  }
}

it('the schema allows what is read', () => {
  const property = fc.property(randomEligibility(['a', 'b']), (eligibility) => {
    const json = JSON.parse(eligibilityText(eligibility));
    expect([isRead(json), allows(json)]).toEqual([true, true]);
  });
  fc.assert(property);
});

it.each([
  ['a member that there is not', { allow: ['1'] }],
  ['a clause without a form', { predicate: {} }],
  ['an attribute alone', { predicate: { attribute: 'a' } }],
  ['two forms of a list', { predicate: { attribute: 'a', in: ['b'], contains: ['c'] } }],
  ['a list and a bound', { predicate: { attribute: 'a', in: ['b'], min: 1 } }],
  ['two clauses in one', { predicate: { all: [], any: [] } }],
  ['a bound that is a text', { predicate: { attribute: 'a', min: '1' } }],
  ['an ID that is a fraction', { denied: [1.5] }],
  ['a number among texts, below', { predicate: { not: { attribute: 'a', in: [1] } } }],
])('neither the schema nor the reader takes %s', (_, value) => {
  expect([isRead(value), allows(value)]).toEqual([false, false]);
});
