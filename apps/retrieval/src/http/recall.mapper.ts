/** JSON -> domain of the HTTP edge. */

import type { RecallRequest } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import {
  asInteger,
  asList,
  asObject,
  bodyWith,
  deadlineOf,
  invalid,
  userSource,
} from './json-fields.js';

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
function asPositive(field: string, value: unknown): number {
  if (value === undefined) return 0;
  const number = asInteger(field, value);
  if (number < 1) throw invalid(field, 'at least 1', value);
  return number;
}

/** Passed on as it is: the engine knows its members and their limits. */
function asEligibility(value: unknown): { eligibility?: string } {
  if (value === undefined) return {};
  return { eligibility: JSON.stringify(asObject('eligibility', value)) };
}

export function parseJsonRecall(json: unknown): Parsed<RecallRequest> {
  const body = bodyWith(['resultCount', 'widths', 'itemsPerSid', 'eligibility'], json);
  const request = {
    ...userSource(body),
    resultCount: asPositive('resultCount', body.resultCount),
    widths: body.widths === undefined ? [] : asList('widths', body.widths, asInteger),
    itemsPerSid: asPositive('itemsPerSid', body.itemsPerSid),
    ...asEligibility(body.eligibility),
  };
  return { request, deadlineMs: deadlineOf(body) };
}
