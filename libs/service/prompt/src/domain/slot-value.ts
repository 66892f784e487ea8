import { createHash } from 'node:crypto';
import { expecting, type TesseraError } from '@tessera/errors';
import type { AddedToken } from './added-tokens.js';
import type { UserSegment, ValueSegment } from './prompt-template.js';
import type { Tokenizer } from './tokenizer.js';

const invalid = expecting('REQUEST_INVALID');

/** Characters of a profile or scene value at most. */
const SLOT_VALUE_LENGTH_MAX = 256;
const VALUES_IN_MESSAGE_MAX = 20;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A value that the request chose freely, as it is written. */
export interface FreeValue {
  /** Path of the value in the request. */
  readonly field: string;
  readonly text: string;
}

/** A free value in a text: characters [start, end). */
export interface FreeValuePlace extends FreeValue {
  readonly start: number;
  readonly end: number;
}

/**
 * The text of a slot, undefined where the segment is left out.
 * A value with the text of an added token is refused: it could end the prompt or forge behaviours.
 * @throws TesseraError REQUEST_INVALID with the path of the value
 */
export function slotText(
  segment: ValueSegment,
  given: Readonly<Record<string, string>>,
  tokenizer: Tokenizer,
): string | FreeValue | undefined {
  const value = Object.hasOwn(given, segment.key) ? given[segment.key] : segment.default;
  if (value === undefined) return undefined;
  if (segment.values !== undefined) {
    const text = segment.values.get(value);
    if (text === undefined) throw refusal(segment, `one of ${known(segment.values)}`, value);
    return text;
  }
  if (value === segment.default) return value;
  if (value.length > SLOT_VALUE_LENGTH_MAX) {
    throw refusal(segment, `at most ${SLOT_VALUE_LENGTH_MAX} characters`, value);
  }
  if (LONE_SURROGATE.test(value)) throw refusal(segment, 'well-formed Unicode', value);
  const token = tokenizer.addedTokensIn(value)[0]?.token.content;
  if (token !== undefined) throw refusal(segment, `a text without the token ${token}`, value);
  return { field: fieldOf(segment), text: value };
}

/** Bytes of a digest that choose a bin: as many as a number holds exactly. */
const BIN_BYTES = 6;

/**
 * The text of a user's bin: the ID modulo the number of bins where it is a whole number, as it was
 * trained; otherwise the first six bytes of its SHA-256, big-endian.
 */
export function userText({ bins, before, after }: UserSegment, userId: string): string {
  return `${before}${binOf(userId, bins)}${after}`;
}

function binOf(userId: string, bins: number): number {
  if (/^\d+$/.test(userId)) return Number(BigInt(userId) % BigInt(bins));
  return createHash('sha256').update(userId).digest().readUIntBE(0, BIN_BYTES) % bins;
}

/**
 * A value must not make a token with what stands beside it, but one around the whole of it, as
 * `<|daypart_` and `|>` are meant to: no part of it may be a token's begin or end, and no token
 * that it makes may be reserved.
 * @throws TesseraError REQUEST_INVALID with the path of the value
 */
export function checkBorders(
  text: string,
  values: readonly FreeValuePlace[],
  tokenizer: Tokenizer,
  isReserved: (token: AddedToken) => boolean,
): void {
  if (values.length === 0) return;
  for (const place of tokenizer.addedTokensIn(text)) {
    const forging = values.find((value) => {
      if (place.end <= value.start || place.start >= value.end) return false;
      const isAround = place.start < value.start && value.end < place.end;
      return !isAround || isReserved(place.token);
    });
    if (forging === undefined) continue;
    const expected = `a text that does not make the token ${place.token.content}`;
    throw invalid(forging.field, expected, given(forging.text));
  }
}

function known(values: ReadonlyMap<string, string>): string {
  const names = [...values.keys()].slice(0, VALUES_IN_MESSAGE_MAX).join(', ');
  return values.size <= VALUES_IN_MESSAGE_MAX ? names : `${names}, … (${values.size})`;
}

function refusal(segment: ValueSegment, expected: string, value: string): TesseraError {
  return invalid(fieldOf(segment), expected, given(value));
}

function fieldOf({ kind, key }: ValueSegment): string {
  return `${kind}.${key}`;
}

function given(value: string): string {
  return value.length <= 40 ? `'${value}'` : `${value.length} characters`;
}
