import { TesseraError } from '@tessera/errors';
import type { ValueSegment } from './prompt-template.js';
import type { Tokenizer } from './tokenizer.js';

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
    return segment.values.get(value) ?? refuse(segment, `one of ${known(segment.values)}`, value);
  }
  if (value === segment.default) return value;
  if (value.length > SLOT_VALUE_LENGTH_MAX) {
    return refuse(segment, `at most ${SLOT_VALUE_LENGTH_MAX} characters`, value);
  }
  if (LONE_SURROGATE.test(value)) return refuse(segment, 'well-formed Unicode', value);
  const token = tokenizer.findAddedToken(value);
  if (token !== undefined) return refuse(segment, `a text without the token ${token}`, value);
  return value;
}

function known(values: ReadonlyMap<string, string>): string {
  const names = [...values.keys()].slice(0, VALUES_IN_MESSAGE_MAX).join(', ');
  return values.size <= VALUES_IN_MESSAGE_MAX ? names : `${names}, … (${values.size})`;
}

function refuse(segment: ValueSegment, expected: string, value: string): never {
  const field = `${segment.kind}.${segment.key}`;
  const shown = value.length <= 40 ? `'${value}'` : `${value.length} characters`;
  throw new TesseraError('REQUEST_INVALID', `${field}: expected ${expected}, got ${shown}`, {
    field,
  });
}
