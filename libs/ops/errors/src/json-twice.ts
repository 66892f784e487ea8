import { endOfText } from './json-depth.js';

const [QUOTE, COLON, CURLY_BIT, OPENING, CLOSING] = [0x22, 0x3a, 0x20, 0x7b, 0x7d];

interface Open {
  readonly keys: Set<string>;
  /** The last of them. */
  key: string;
}

/**
 * The path of the first key that an object has twice, of which JSON.parse() keeps the last without
 * a word; undefined: there is none. REQUIRES: `json` is JSON.
 */
export function keyThereTwice(json: string): string | undefined {
  const bytes = Buffer.from(json);
  // Objects and lists around the place; a list has no keys.
  const around: Open[] = [];
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] as number;
    const open = around.at(-1);
    if (code === QUOTE) {
      const end = endOfText(bytes, at);
      text = bytes.toString('utf8', at, end + 1);
      at = end;
    } else if (code === COLON && open !== undefined) {
      open.key = JSON.parse(text);
      if (open.keys.has(open.key)) {
        return around.flatMap(({ keys, key }) => (keys.size > 0 ? [key] : [])).join('.');
      }
      open.keys.add(open.key);
    } else if ((code | CURLY_BIT) === OPENING) around.push({ keys: new Set(), key: '' });
    else if ((code | CURLY_BIT) === CLOSING) around.pop();
  }
  return undefined;
}
