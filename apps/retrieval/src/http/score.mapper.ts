/** JSON -> domain of scores. */

import { TesseraError } from '@tessera/errors';
import type { ScoreRequest, ScoreTarget } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import {
  asInteger,
  asItemId,
  asList,
  asObject,
  bodyWith,
  deadlineOf,
  userSource,
} from './json-fields.js';

/** An item's ID, or its SID as `{"sid": [3, 1, 4]}`. */
function asTarget(field: string, value: unknown): ScoreTarget {
  if (typeof value === 'string' || typeof value === 'number') {
    return { itemId: asItemId(field, value) };
  }
  const target = asObject(field, value);
  const unknown = Object.keys(target).find((name) => name !== 'sid');
  if (unknown === undefined) return { sid: asList(`${field}.sid`, target.sid, asInteger) };
  const path = `${field}.${unknown}`;
  const message = `${path}: unknown field; expected sid`;
  throw new TesseraError('REQUEST_INVALID', message, { field: path });
}

export function parseJsonScore(json: unknown): Parsed<ScoreRequest> {
  const body = bodyWith(['items'], json);
  const request = { ...userSource(body), items: asList('items', body.items, asTarget) };
  return { request, deadlineMs: deadlineOf(body) };
}
