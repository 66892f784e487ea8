/** How deep objects and lists of JSON may lie inside each other, wherever it comes from. */
export const JSON_DEPTH_MAX = 256;

/** How many members the objects of a request's JSON may have, all together. */
export const JSON_MEMBERS_MAX = 4000;

/** How many values, those in lists included, a request's JSON may have. */
export const JSON_VALUES_MAX = 200_000;

/** Characters of a path that messages show. */
const PATH_LENGTH_MAX = 200;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` are the same but for this bit. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Reason why JSON is not taken. */
export interface JsonFault {
  /** '' where it is about the whole; otherwise the path of a key. */
  readonly key: string;
  readonly expected: string;
  readonly got: string;
}

const more = (expected: string): JsonFault => ({ key: '', expected, got: 'more' });

const TOO_DEEP = more(`JSON nested at most ${JSON_DEPTH_MAX} deep`);
const TOO_MANY_MEMBERS = more(`JSON of at most ${JSON_MEMBERS_MAX} members`);
const TOO_MANY_VALUES = more(`JSON of at most ${JSON_VALUES_MAX} values`);

interface Open {
  /** Made with the first key: lists have none. */
  keys?: Set<string>;
  /** The last of them. */
  key: string;
}

/**
 * Looks at JSON before it is parsed, whether it is JSON or not. Members, objects and values take a
 * hundred times the time of as many bytes of text. Of a key that an object has twice, JSON.parse()
 * keeps the last without a word. A value that nests too deep could not be written again: the stack
 * would end.
 * @param isBounded false: members and values without end
 */
export function jsonFault(json: string | Buffer, isBounded = false): JsonFault | undefined {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  const [membersMax, valuesMax] = isBounded
    ? [JSON_MEMBERS_MAX, JSON_VALUES_MAX]
    : [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // Objects and lists around the place.
  const around: Open[] = [];
  let [members, objects, values, textAt, textEnd] = [0, 0, 0, 0, -1];
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] as number;
    if (code === QUOTE) {
      textAt = at;
      textEnd = endOfText(bytes, at);
      at = textEnd;
    } else if (code === COLON) {
      members += 1;
      if (members > membersMax) return TOO_MANY_MEMBERS;
      const open = around.at(-1);
      if (open === undefined || textEnd < textAt) continue;
      open.key = keyOf(bytes.subarray(textAt, textEnd + 1));
      // A text is one key at most: what is no JSON would have it read again for each colon.
      textEnd = -1;
      open.keys ??= new Set();
      if (open.keys.size === open.keys.add(open.key).size) return twice(around);
    } else if (code === COMMA) {
      values += 1;
      if (values >= valuesMax) return TOO_MANY_VALUES;
    } else if ((code | CURLY_BIT) === OPENING) {
      around.push({ key: '' });
      if (around.length > JSON_DEPTH_MAX) return TOO_DEEP;
      // Objects count by themselves as well: one may have no member.
      objects += code === OPENING ? 1 : 0;
      if (objects > membersMax) return TOO_MANY_MEMBERS;
    } else if ((code | CURLY_BIT) === CLOSING) around.pop();
  }
  return undefined;
}

function twice(around: readonly Open[]): JsonFault {
  const path = around.flatMap(({ keys, key }) => (keys === undefined ? [] : [key]));
  return { key: path.join('.').slice(0, PATH_LENGTH_MAX), expected: 'it once', got: 'it twice' };
}

/** @param quoted key, whose escapes spell what another spelling of it has as letters */
function keyOf(quoted: Buffer): string {
  const text = quoted.toString();
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Place of the quote that ends the text which begins at `from`, or the end of all. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}

/**
 * JSON that people write, as JSON.parse() reads it.
 * @throws SyntaxError also where it nests too deep, or has a key twice
 */
export function parseJson(text: string): unknown {
  const json: unknown = JSON.parse(text);
  const fault = jsonFault(text);
  if (fault === undefined) return json;
  const { key, expected, got } = fault;
  throw new SyntaxError(key === '' ? `${got}; expected ${expected}` : `'${key}' twice`);
}
