import { expecting, type TesseraError } from '@tessera/errors';
import type { ValueSegment } from './prompt-template.js';
import type { Tokenizer } from './tokenizer.js';

const invalid = expecting('REQUEST_INVALID');

/** Characters of a profile or scene value at most. */
const SLOT_VALUE_LENGTH_MAX = 256;
const VALUES_IN_MESSAGE_MAX = 20;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Text of a slot, undefined where the segment is left out.
 * A value with the text of an added token is refused: it could end the prompt or forge behaviours.
 * @throws TesseraError REQUEST_INVALID with the path of the value
 */
export function slotText(
  segment: ValueSegment,
  given: Readonly<Record<string, string>>,
  tokenizer: Tokenizer,
): string | undefined {
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
  const token = tokenizer.findAddedToken(value);
  if (token !== undefined) throw refusal(segment, `a text without the token ${token}`, value);
  return value;
}

function known(values: ReadonlyMap<string, string>): string {
  const names = [...values.keys()].slice(0, VALUES_IN_MESSAGE_MAX).join(', ');
  return values.size <= VALUES_IN_MESSAGE_MAX ? names : `${names}, … (${values.size})`;
}

function refusal(segment: ValueSegment, expected: string, value: string): TesseraError {
  const field = `${segment.kind}.${segment.key}`;
  const given = value.length <= 40 ? `'${value}'` : `${value.length} characters`;
  return invalid(field, expected, given);
}
