/** How deep objects and lists of JSON may lie inside each other, wherever it comes from. */
export const JSON_DEPTH_MAX = 256;

/** How many members the objects of a request's JSON may have, all together. */
export const JSON_MEMBERS_MAX = 4000;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}` are the same but for this bit. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Whether JSON nests deeper than JSON_DEPTH_MAX: what is made of it then cannot be written again
 * without exhausting the stack. Looked at before it is parsed, whether it is JSON or not.
 */
export function nestsTooDeep(json: string | Uint8Array): boolean {
  return jsonFault(json, Number.POSITIVE_INFINITY) === 'depth';
}

/**
 * The reason why JSON is not parsed: it nests too deep, or has more members than `membersMax`,
 * which takes a hundred times the time of as many bytes of text.
 */
export function jsonFault(
  json: string | Uint8Array,
  membersMax = JSON_MEMBERS_MAX,
): 'depth' | 'members' | undefined {
  const codeAt =
    typeof json === 'string' ? (at: number) => json.charCodeAt(at) : (at: number) => json[at] ?? 0;
  let depth = 0;
  let members = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = codeAt(at);
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === COLON) {
      members += 1;
      if (members > membersMax) return 'members';
    } else if ((code | CURLY_BIT) === OPENING) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return 'depth';
    } else if ((code | CURLY_BIT) === CLOSING) depth -= 1;
  }
  return undefined;
}
