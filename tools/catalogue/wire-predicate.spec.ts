import { expect, it } from 'vitest';
import { predicateJson } from '../../apps/retrieval/src/wire/eligibility.mapper.js';
import { wirePredicate } from './wire-predicate.js';

const CLAUSES = [
  { all: [] },
  { any: [{ not: { attribute: 'a', in: ['x', 'true'] } }, { attribute: 'l', contains: [] }] },
  { attribute: 'n', min: -1.5 },
  { attribute: 'n', min: 0, max: 0 },
];

it('says in the words of the wire what the service reads back as the same clause', () => {
  for (const clause of CLAUSES) {
    const wire = wirePredicate(JSON.stringify(clause)) as Parameters<typeof predicateJson>[0];
    expect(JSON.parse(JSON.stringify(predicateJson(wire, 'predicate')))).toEqual(clause);
  }
});

it.each([
  [[], 'predicate: expected a JSON object'],
  [{}, 'predicate: expected all, any, not'],
  [{ all: [], any: [] }, 'predicate: expected all, any, not'],
  [{ all: {} }, 'predicate.all: expected a list'],
  [{ not: { all: [3] } }, 'predicate.not.all[0]: expected a JSON object, got 3'],
  [{ attribute: 3, in: [] }, 'predicate.attribute: expected a text'],
  [{ attribute: 'a' }, 'predicate: expected all, any, not'],
  [{ attribute: 'a', in: ['x'], min: 1 }, 'predicate: expected all, any, not'],
  [{ attribute: 'a', in: [1] }, 'predicate.in[0]: expected a text, got 1'],
  [{ attribute: 'a', eq: 1 }, 'predicate: expected all, any, not'],
  [{ attribute: 'a', min: '1' }, 'predicate.min: expected a finite number'],
])('refuses %j with the place', (clause, message) => {
  expect(() => wirePredicate(JSON.stringify(clause))).toThrow(message);
});
