/** Readers of HTTP bodies that are no messages. Every refusal is REQUEST_INVALID with the field. */

import { TesseraError } from '@tessera/errors';
import { invalid } from '@tessera/grpc';
import { numberIn, wellFormed } from '@tessera/httpjson';

const COUNT_MAX = 1_000_000_000;

export type Body = Readonly<Record<string, unknown>>;

export function objectOf(field: string, value: unknown): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw invalid(field, 'an object', value);
}

/**
 * Keys of other services' bodies beside those that are read: NO_EFFECT, the only values that
 * change nothing, or the reason why any value is refused.
 */
export type ForeignKeys = Readonly<Record<string, typeof NO_EFFECT | readonly unknown[] | string>>;

/** Cannot change the answer: let by. */
export const NO_EFFECT = Symbol('no effect');

/** The members of a body, each of which is read, without effect, or refused by its name. */
export function membersOf(value: unknown, keys: readonly string[], foreign: ForeignKeys): Body {
  const body = objectOf('body', value);
  for (const [key, member] of Object.entries(body)) {
    if (keys.includes(key)) continue;
    const rule = Object.hasOwn(foreign, key) ? foreign[key] : undefined;
    if (rule === NO_EFFECT) continue;
    if (typeof rule === 'string') throw invalid(key, rule, member);
    if (rule === undefined) throw invalid(key, `no such key (known: ${keys.join(', ')})`, 'it');
    if (!rule.includes(member)) throw invalid(key, rule.map(String).join(' or '), member);
  }
  return body;
}

/** Error with the name that its list has in the caller's body. */
export function renamed(error: TesseraError, name: string, inBody: string): TesseraError {
  const { code, message, field, retryAfterMs } = error;
  if (field === undefined) return error;
  const own = (text: string) =>
    text.startsWith(name) && !/^\w/.test(text.slice(name.length))
      ? inBody + text.slice(name.length)
      : text;
  return new TesseraError(code, own(message), { field: own(field), retryAfterMs, cause: error });
}

export function listOf(body: Body, key: string): readonly unknown[] {
  const value = body[key];
  if (Array.isArray(value)) return value;
  throw invalid(key, 'an array', value);
}

export function textOf(body: Body, key: string, fallback?: string): string {
  const value = body[key] ?? fallback;
  if (typeof value === 'string') return wellFormed(key, value);
  throw invalid(key, 'a text', value);
}

export function flagOf(body: Body, key: string, fallback: boolean): boolean {
  const value = body[key] ?? fallback;
  if (typeof value === 'boolean') return value;
  throw invalid(key, 'true or false', value);
}

export function countOf(body: Body, key: string): number {
  const value = numberIn(body[key]);
  const isCount = typeof value === 'number' && Number.isInteger(value);
  if (isCount && value >= 1 && value <= COUNT_MAX) return value;
  throw invalid(key, `an integer in 1..${COUNT_MAX}`, value);
}

/** The first of the words where the key is absent. */
export function wordOf<Word extends string>(
  body: Body,
  key: string,
  words: readonly [Word, ...Word[]],
): Word {
  if (body[key] === undefined) return words[0];
  const word = words.find((known) => known === body[key]);
  if (word !== undefined) return word;
  throw invalid(key, `one of ${words.join(', ')}`, body[key]);
}
