/** Schemas of the JSON of eligibility (docs/concepts/eligibility.md), which is no message's. */

import { OR_INTEGER } from '@tessera/httpjson';
import { listSchema, objectSchema } from './json-schemas.js';

const text = { type: 'string' };
const ids = listSchema({ type: 'string', [OR_INTEGER]: true });
const number = { type: 'number' };
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const values = listSchema(reference('EligibilityValue'));
const attribute = { type: 'string', minLength: 1 };
const clauses = listSchema(reference('EligibilityClause'));

export const ELIGIBILITY_SCHEMAS = {
  /** A truth value stands for its text. */
  EligibilityValue: { oneOf: [text, { type: 'boolean' }] },
  EligibilityAll: objectSchema({ all: clauses }, ['all']),
  EligibilityAny: objectSchema({ any: clauses }, ['any']),
  EligibilityNot: objectSchema({ not: reference('EligibilityClause') }, ['not']),
  EligibilityIn: objectSchema({ attribute, in: values }, ['attribute', 'in']),
  EligibilityContains: objectSchema({ attribute, contains: values }, ['attribute', 'contains']),
  EligibilityRange: Object.assign(
    objectSchema({ attribute, min: number, max: number }, ['attribute']),
    // The attribute, and a bound.
    { minProperties: 2 },
  ),
  EligibilityClause: {
    oneOf: ['All', 'Any', 'Not', 'In', 'Contains', 'Range'].map((form) =>
      reference(`Eligibility${form}`),
    ),
  },
  Eligibility: objectSchema({
    predicate: reference('EligibilityClause'),
    allowed: ids,
    denied: ids,
    seen: ids,
    drawn: reference('EligibilityClause'),
  }),
};
