/** Readers of HTTP bodies that are no messages. Every refusal is REQUEST_INVALID with the field. */

import { invalid } from '@tessera/grpc';

const COUNT_MAX = 1_000_000_000;

export type Body = Readonly<Record<string, unknown>>;

export function objectOf(field: string, value: unknown): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw invalid(field, 'an object', value);
}

/** An object with no other members than these. */
export function strictObjectOf(field: string, value: unknown, keys: readonly string[]): Body {
  const object = objectOf(field, value);
  const stranger = Object.keys(object).find((key) => !keys.includes(key));
  if (stranger === undefined) return object;
  const path = field === 'body' ? stranger : `${field}.${stranger}`;
  throw invalid(path, `no such key (known: ${keys.join(', ')})`, 'it');
}

export function listOf(body: Body, key: string): readonly unknown[] {
  const value = body[key];
  if (Array.isArray(value)) return value;
  throw invalid(key, 'an array', value);
}

export function textOf(body: Body, key: string, fallback?: string): string {
  const value = body[key] ?? fallback;
  if (typeof value === 'string') return value;
  throw invalid(key, 'a text', value);
}

export function flagOf(body: Body, key: string, fallback: boolean): boolean {
  const value = body[key] ?? fallback;
  if (typeof value === 'boolean') return value;
  throw invalid(key, 'true or false', value);
}

export function countOf(body: Body, key: string): number {
  const value = body[key];
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
