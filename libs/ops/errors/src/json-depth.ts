/** How deep objects and lists of JSON may lie inside each other, wherever it comes from. */
export const JSON_DEPTH_MAX = 256;

/** How many members the objects of a request's JSON may have, all together. */
export const JSON_MEMBERS_MAX = 4000;

/** How many values, those in lists included, a request's JSON may have. */
export const JSON_VALUES_MAX = 200_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` are the same but for this bit. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * True if JSON nests deeper than JSON_DEPTH_MAX: what is made of it then cannot be written again
 * without exhausting the stack. Looked at before it is parsed, whether it is JSON or not.
 */
export function nestsTooDeep(json: string | Uint8Array): boolean {
  const endless = Number.POSITIVE_INFINITY;
  return jsonFault(json, { members: endless, values: endless }) === 'depth';
}

const LIMITS = { members: JSON_MEMBERS_MAX, values: JSON_VALUES_MAX };

/**
 * The reason why JSON is not parsed: it nests too deep, or has more members, objects or values than
 * `limits` lets it, which take a hundred times the time of as many bytes of text.
 */
export function jsonFault(
  json: string | Uint8Array,
  limits = LIMITS,
): 'depth' | 'members' | 'values' | undefined {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let [depth, members, objects, values] = [0, 0, 0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] as number;
    if (code === QUOTE) {
      at = endOfText(bytes, at);
    } else if (code === COLON) {
      members += 1;
      if (members > limits.members) return 'members';
    } else if (code === COMMA) {
      values += 1;
      if (values >= limits.values) return 'values';
    } else if ((code | CURLY_BIT) === OPENING) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return 'depth';
      // Those that have no member.
      objects += code === OPENING ? 1 : 0;
      if (objects > limits.members) return 'members';
    } else if ((code | CURLY_BIT) === CLOSING) depth -= 1;
  }
  return undefined;
}

/** Place of the quote that ends the text which begins at `from`, or the end of all. */
export function endOfText(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
