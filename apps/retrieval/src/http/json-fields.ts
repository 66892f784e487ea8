/** Fields that requests of both services have: strict JSON, unknown fields refused by path. */

import type { Priority, ScoreNorm } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { UserSource } from '@tessera/recall';

export type JsonObject = Readonly<Record<string, unknown>>;

const SCORE_NORMS: readonly ScoreNorm[] = ['full', 'level', 'allowed'];
const PRIORITIES: readonly Priority[] = ['high', 'normal', 'low'];
const SHOWN_CHARACTERS_MAX = 80;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}...` : text;
}

export function invalid(field: string, expected: string, came: unknown): TesseraError {
  const message = `${field}: expected ${expected}, came ${shown(came)}`;
  return new TesseraError('REQUEST_INVALID', message, { field });
}

export function asObject(field: string, value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(field, 'a JSON object', value);
  }
  return value as JsonObject;
}

/** JSON can escape half of a surrogate pair, which no UTF-8 can carry. */
export function asText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(field, 'a string', value);
  if (!value.isWellFormed()) throw invalid(field, 'well-formed Unicode', value);
  return value;
}

export function asInteger(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw invalid(field, 'an integer', value);
  }
  return value;
}

export function asItemId(field: string, value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string') return asText(field, value);
  throw invalid(field, 'a string or an integer', value);
}

export function asList<T>(
  field: string,
  value: unknown,
  each: (path: string, entry: unknown) => T,
): T[] {
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

function source(body: JsonObject): Pick<UserSource, 'userId' | 'history'> {
  return {
    ...(body.userId === undefined ? {} : { userId: asItemId('userId', body.userId) }),
    ...(body.history === undefined ? {} : { history: asList('history', body.history, asItemId) }),
  };
}

export function asBoolean(field: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw invalid(field, 'true or false', value);
  return value;
}

const USER_FIELDS: readonly string[] = [
  'requestId',
  'catalogue',
  'adapter',
  'userId',
  'history',
  'profile',
  'scene',
  'scoreNorm',
  'priority',
  'deadlineMs',
  'skipUnknownItems',
];

/** The body as an object that has no fields but those of a user and `own`. */
export function bodyWith(own: readonly string[], json: unknown): JsonObject {
  const body = asObject('body', json);
  refuseUnknown([...USER_FIELDS, ...own], body);
  return body;
}

/** The body as an object that has no fields but `known`. */
export function objectWith(known: readonly string[], json: unknown): JsonObject {
  const body = asObject('body', json);
  refuseUnknown(known, body);
  return body;
}

export function refuseUnknown(known: readonly string[], body: JsonObject): void {
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `${unknown}: unknown field; expected ${known.join(', ')}`;
  throw new TesseraError('REQUEST_INVALID', message, { field: unknown });
}

export function userSource(body: JsonObject): UserSource {
  const { requestId, catalogue, adapter } = body;
  return {
    requestId: requestId === undefined ? '' : asText('requestId', requestId),
    ...(catalogue === undefined ? {} : { catalogue: asText('catalogue', catalogue) }),
    ...(adapter === undefined ? {} : { adapter: asText('adapter', adapter) }),
    ...source(body),
    profile: asTexts('profile', body.profile),
    scene: asTexts('scene', body.scene),
    ...asScoreNorm(body.scoreNorm),
    ...asPriority(body.priority),
    skipUnknownItems: asBoolean('skipUnknownItems', body.skipUnknownItems),
  };
}

export function deadlineOf({ deadlineMs }: JsonObject): number | undefined {
  return deadlineMs === undefined ? undefined : asInteger('deadlineMs', deadlineMs);
}
