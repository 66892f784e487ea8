/**
 * Reads the two fields that admission needs from a block of request headers (HPACK, RFC 7541),
 * without a decoder's state: a peer that was told to keep no dynamic table writes every block so
 * that it stands alone.
 */

/** RFC 7541, appendix B: codes of ASCII's characters that can be seen, but for the backslash. */
const HUFFMAN: Readonly<Record<string, string>> = {
  ...{ '0': '00000', '1': '00001', '2': '00010', a: '00011', c: '00100', e: '00101' },
  ...{ i: '00110', o: '00111', s: '01000', t: '01001', '%': '010101', '-': '010110' },
  ...{ '.': '010111', '/': '011000', '3': '011001', '4': '011010', '5': '011011' },
  ...{ '6': '011100', '7': '011101', '8': '011110', '9': '011111', '=': '100000', A: '100001' },
  ...{ _: '100010', b: '100011', d: '100100', f: '100101', g: '100110', h: '100111' },
  ...{ l: '101000', m: '101001', n: '101010', p: '101011', r: '101100', u: '101101' },
  ...{ ':': '1011100', B: '1011101', C: '1011110', D: '1011111', E: '1100000', F: '1100001' },
  ...{ G: '1100010', H: '1100011', I: '1100100', J: '1100101', K: '1100110', L: '1100111' },
  ...{ M: '1101000', N: '1101001', O: '1101010', P: '1101011', Q: '1101100', R: '1101101' },
  ...{ S: '1101110', T: '1101111', U: '1110000', V: '1110001', W: '1110010', Y: '1110011' },
  ...{ j: '1110100', k: '1110101', q: '1110110', v: '1110111', w: '1111000', x: '1111001' },
  ...{ y: '1111010', z: '1111011', X: '11111100', Z: '11111101', ' ': '010100' },
  ...{ '&': '11111000', '*': '11111001', ',': '11111010', ';': '11111011' },
  ...{ '!': '1111111000', '"': '1111111001', '(': '1111111010', ')': '1111111011' },
  ...{ '?': '1111111100', "'": '11111111010', '+': '11111111011', '|': '11111111100' },
  ...{ '#': '111111111010', '>': '111111111011', $: '1111111111001', '@': '1111111111010' },
  ...{ '[': '1111111111011', ']': '1111111111100', '~': '1111111111101' },
  ...{ '^': '11111111111100', '}': '11111111111101', '<': '111111111111100' },
  ...{ '`': '111111111111101', '{': '111111111111110' },
};
const CODE_BITS_MAX = 15;
/** Character codes by Huffman code with a 1 before it; 0: none. */
const SYMBOLS = new Uint8Array(2 ** (CODE_BITS_MAX + 1));
for (const [char, code] of Object.entries(HUFFMAN)) {
  SYMBOLS[Number.parseInt(`1${code}`, 2)] = char.charCodeAt(0);
}

const STATIC_ENTRIES = 61;
/** Names that are read, by their places in the static table (RFC 7541, appendix A). */
const STATIC_NAMES: Readonly<Record<number, string>> = {
  ...{ 4: ':path', 5: ':path', 23: 'authorization', 31: 'content-type' },
};
/** Longer values are not decoded: the block is left to the server. */
const VALUE_BYTES_MAX = 4096;

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 },
};

/** The Huffman code of a text. */
export function huffman(text: string): Buffer {
  const bits = [...text].map((char) => HUFFMAN[char] ?? '').join('');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Undefined where a character is none of the table. */
function decoded(bytes: Buffer): string | undefined {
  let text = '';
  let code = 1;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1);
      if (code >= SYMBOLS.length) return undefined;
      const char = SYMBOLS[code] as number;
      if (char === 0) continue;
      text += String.fromCharCode(char);
      code = 1;
    }
  }
  return text;
}

/** What is read of a request's headers. */
export interface RequestHeaders {
  readonly path: string | undefined;
  /** Milliseconds; Infinity where there is no deadline. */
  readonly timeoutMs: number;
  /** All that were asked for and are there once, by their names. */
  readonly fields: Readonly<Record<string, string>>;
  /** A value could not be read, or stands there twice. */
  readonly isPartial: boolean;
}

class BlockReader {
  private at = 0;

  constructor(private readonly block: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.block.length;
  }

  peek(): number {
    return this.block[this.at] ?? 0;
  }

  /** RFC 7541, 5.1. Throws RangeError where the block ends too early. */
  integer(prefixBits: number): number {
    const limit = 2 ** prefixBits - 1;
    let value = this.byte() & limit;
    if (value < limit) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new RangeError('an integer of more than four bytes');
  }

  text(): { readonly bytes: Buffer; readonly isCoded: boolean } {
    const isCoded = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const bytes = this.block.subarray(this.at, this.at + length);
    this.at += length;
    if (this.at > this.block.length) throw new RangeError('a text beyond the block');
    return { bytes, isCoded };
  }

  private byte(): number {
    const byte = this.block[this.at++];
    if (byte === undefined) throw new RangeError('a block that ends too early');
    return byte;
  }
}

type Text = ReturnType<BlockReader['text']>;

/** Names by their bytes: they are few. */
const remembered = new Map<string, string | undefined>();
const REMEMBERED_MAX = 1024;
const NAME_BYTES_MAX = 64;

function nameOf({ bytes, isCoded }: Text): string | undefined {
  if (bytes.length > NAME_BYTES_MAX) return undefined;
  const text = bytes.toString('latin1');
  if (!isCoded) return text;
  if (!remembered.has(text)) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(text, decoded(bytes));
  }
  return remembered.get(text);
}

function fieldValue({ bytes, isCoded }: Text): string | undefined {
  if (bytes.length > VALUE_BYTES_MAX) return undefined;
  return isCoded ? decoded(bytes) : bytes.toString('latin1');
}

/** A value that is none counts as no deadline here: whoever serves the call refuses it. */
export function timeoutOf(value: string | undefined): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(value ?? '');
  if (match === null) return Number.POSITIVE_INFINITY;
  return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.POSITIVE_INFINITY);
}

const READ: ReadonlySet<string> = new Set([
  ...[':path', 'content-type', 'grpc-timeout', 'grpc-encoding'],
  ...['authorization', 'traceparent', 'tracestate'],
]);

/** Undefined where the block does not stand alone, or is none. */
export function requestHeaders(block: Buffer): RequestHeaders | undefined {
  const fields: Record<string, string> = {};
  let isPartial = false;
  const reader = new BlockReader(block);
  try {
    while (!reader.isAtEnd) {
      const first = reader.peek();
      if ((first & 0x80) !== 0) {
        if (reader.integer(7) > STATIC_ENTRIES) return undefined;
        continue;
      }
      if ((first & 0xe0) === 0x20) {
        reader.integer(5);
        continue;
      }
      const index = reader.integer((first & 0x40) !== 0 ? 6 : 4);
      if (index > STATIC_ENTRIES) return undefined;
      const name = index === 0 ? nameOf(reader.text()) : STATIC_NAMES[index];
      const text = reader.text();
      if (name === undefined || !READ.has(name)) continue;
      const value = fieldValue(text);
      if (value === undefined || fields[name] !== undefined) isPartial = true;
      else fields[name] = value;
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
  const timeoutMs = timeoutOf(fields['grpc-timeout']);
  return { path: fields[':path'], timeoutMs, fields, isPartial };
}
