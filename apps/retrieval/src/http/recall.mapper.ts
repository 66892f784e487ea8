/** JSON -> domain of the HTTP edge. */

import type { DiversityCap, ItemPolicy, RecallRequest } from '@tessera/recall';
import { inside, type Parsed } from '../recall-edge.js';
import {
  asBoolean,
  asInteger,
  asList,
  asObject,
  asText,
  bodyWith,
  deadlineOf,
  invalid,
  refuseUnknown,
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

function asCap(field: string, value: unknown): DiversityCap {
  const cap = asObject(field, value);
  inside(field, () => refuseUnknown(['attribute', 'maxItems'], cap));
  return {
    attribute: asText(`${field}.attribute`, cap.attribute),
    maxItems: asInteger(`${field}.maxItems`, cap.maxItems),
  };
}

function asItemPolicy(value: unknown): { itemPolicy?: ItemPolicy } {
  if (value === undefined) return {};
  const policy = asObject('itemPolicy', value);
  inside('itemPolicy', () => refuseUnknown(['orderBy', 'diversity'], policy));
  const { orderBy = '', diversity = [] } = policy;
  return {
    itemPolicy: {
      orderBy: asText('itemPolicy.orderBy', orderBy),
      diversity: asList('itemPolicy.diversity', diversity, asCap),
    },
  };
}

export function parseJsonRecall(json: unknown): Parsed<RecallRequest> {
  const body = bodyWith(
    [
      'resultCount',
      'widths',
      'itemsPerSid',
      'eligibility',
      'itemPolicy',
      'allowPartial',
      'inspect',
    ],
    json,
  );
  const request = {
    ...userSource(body),
    resultCount: asPositive('resultCount', body.resultCount),
    widths: body.widths === undefined ? [] : asList('widths', body.widths, asInteger),
    itemsPerSid: asPositive('itemsPerSid', body.itemsPerSid),
    ...asEligibility(body.eligibility),
    ...asItemPolicy(body.itemPolicy),
    allowPartial: asBoolean('allowPartial', body.allowPartial),
    wantsSight: asBoolean('inspect', body.inspect),
  };
  return { request, deadlineMs: deadlineOf(body) };
}
