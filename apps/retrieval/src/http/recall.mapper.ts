/** Wire <-> domain of the HTTP edge: strict JSON, unknown fields refused with their path. */

import type { Priority, ScoreNorm } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { RecallRequest } from '@tessera/recall';
import type { ParsedRecall } from '../recall-edge.js';

type JsonObject = Readonly<Record<string, unknown>>;

const SCORE_NORMS: readonly ScoreNorm[] = ['full', 'level', 'allowed'];
const PRIORITIES: readonly Priority[] = ['high', 'normal', 'low'];
const FIELDS: readonly string[] = [
  'requestId',
  'userId',
  'history',
  'profile',
  'scene',
  'resultCount',
  'widths',
  'itemsPerSid',
  'scoreNorm',
  'priority',
  'deadlineMs',
  'skipUnknownItems',
];
const SHOWN_CHARACTERS_MAX = 80;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}...` : text;
}

function invalid(field: string, expected: string, came: unknown): TesseraError {
  const message = `${field}: expected ${expected}, came ${shown(came)}`;
  return new TesseraError('REQUEST_INVALID', message, { field });
}

function asObject(field: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(field, 'a JSON object', value);
  }
  return value as JsonObject;
}

/** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */
function asText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(field, 'a string', value);
  if (!value.isWellFormed()) throw invalid(field, 'well-formed Unicode', value);
  return value;
}

function asInteger(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw invalid(field, 'an integer', value);
  }
  return value;
}

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
function asPositive(field: string, value: unknown): number {
  if (value === undefined) return 0;
  const number = asInteger(field, value);
  if (number < 1) throw invalid(field, 'at least 1', value);
  return number;
}

function asItemId(field: string, value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return asText(field, value);
  throw invalid(field, 'a string or an integer', value);
}

function asList<T>(field: string, value: unknown, each: (path: string, entry: unknown) => T): T[] {
  if (!Array.isArray(value)) throw invalid(field, 'a list', value);
  return value.map((entry, index) => each(`${field}[${index}]`, entry));
}

function asTexts(field: string, value: unknown): Record<string, string> {
  if (value === undefined) return {};
  const entries = Object.entries(asObject(field, value)).map(([key, entry]) => [
    asText(`${field} key`, key),
    asText(`${field}.${key}`, entry),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

function asScoreNorm(value: unknown): { scoreNorm?: ScoreNorm } {
  if (value === undefined) return {};
  const scoreNorm = SCORE_NORMS.find((norm) => norm === value);
  if (scoreNorm === undefined) {
    throw invalid('scoreNorm', `one of ${SCORE_NORMS.join(', ')}`, value);
  }
  return { scoreNorm };
}

function asPriority(value: unknown): { priority?: Priority } {
  if (value === undefined) return {};
  const priority = PRIORITIES.find((one) => one === value);
  if (priority === undefined) throw invalid('priority', `one of ${PRIORITIES.join(', ')}`, value);
  return { priority };
}

function source(body: JsonObject): Pick<RecallRequest, 'userId' | 'history'> {
  return {
    ...(body.userId === undefined ? {} : { userId: asItemId('userId', body.userId) }),
    ...(body.history === undefined ? {} : { history: asList('history', body.history, asItemId) }),
  };
}

function asBoolean(field: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw invalid(field, 'true or false', value);
  return value;
}

export function parseJsonRecall(json: unknown): ParsedRecall {
  const body = asObject('body', json);
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const message = `${unknown}: unknown field; expected ${FIELDS.join(', ')}`;
    throw new TesseraError('REQUEST_INVALID', message, { field: unknown });
  }
  const { requestId, widths, deadlineMs } = body;
  const request = {
    requestId: requestId === undefined ? '' : asText('requestId', requestId),
    ...source(body),
    profile: asTexts('profile', body.profile),
    scene: asTexts('scene', body.scene),
    resultCount: asPositive('resultCount', body.resultCount),
    widths: widths === undefined ? [] : asList('widths', widths, asInteger),
    itemsPerSid: asPositive('itemsPerSid', body.itemsPerSid),
    ...asScoreNorm(body.scoreNorm),
    ...asPriority(body.priority),
    skipUnknownItems: asBoolean('skipUnknownItems', body.skipUnknownItems),
  };
  return {
    request,
    deadlineMs: deadlineMs === undefined ? undefined : asInteger('deadlineMs', deadlineMs),
  };
}
