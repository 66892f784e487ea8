/**
 * Reads the two fields that admission needs from a block of request headers (HPACK, RFC 7541),
 * without a decoder's state: a peer that was told to keep no dynamic table writes every block so
 * that it stands alone.
 */

/** RFC 7541, appendix B: codes of the characters that paths and timeouts are made of. */
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
  ...{ y: '1111010', z: '1111011', X: '11111100', Z: '11111101' },
};
const SYMBOLS = new Map(Object.entries(HUFFMAN).map(([char, code]) => [code, char]));
const CODE_BITS_MAX = 8;

const STATIC_ENTRIES = 61;
const PATH_INDICES: ReadonlySet<number> = new Set([4, 5]);
const TIMEOUT = 'grpc-timeout';
/** Longer values than any that admission knows are not decoded. */
const VALUE_BYTES_MAX = 128;

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 },
};

/** The Huffman code of a text. */
export function huffman(text: string): Buffer {
  const bits = [...text].map((char) => HUFFMAN[char] ?? '').join('');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

const TIMEOUT_NAMES = [huffman(TIMEOUT), Buffer.from(TIMEOUT)];

/** Undefined where a character is none of the table. */
function decoded(bytes: Buffer): string | undefined {
  let text = '';
  let code = '';
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code += (byte >> bit) & 1;
      const char = SYMBOLS.get(code);
      if (char !== undefined) {
        text += char;
        code = '';
      } else if (code.length > CODE_BITS_MAX) return undefined;
    }
  }
  return text;
}

export interface RequestHeaders {
  readonly path: string | undefined;
  /** Milliseconds; Infinity where there is no deadline. */
  readonly timeoutMs: number;
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

/** Decoded texts by their codes: paths and timeouts are few, and decoding is bit by bit. */
const remembered = new Map<string, string | undefined>();
const REMEMBERED_MAX = 4096;

function decodedText({ bytes, isCoded }: Text): string | undefined {
  if (bytes.length > VALUE_BYTES_MAX) return undefined;
  const text = bytes.toString('latin1');
  if (!isCoded) return text;
  if (!remembered.has(text)) {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(text, decoded(bytes));
  }
  return remembered.get(text);
}

function timeoutOf(value: string | undefined): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(value ?? '');
  if (match === null) return Number.POSITIVE_INFINITY;
  return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.POSITIVE_INFINITY);
}

/** Undefined where the block does not stand alone, or is none. */
export function requestHeaders(block: Buffer): RequestHeaders | undefined {
  let path: string | undefined;
  let timeoutMs = Number.POSITIVE_INFINITY;
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
      const name = index === 0 ? reader.text() : undefined;
      const value = reader.text();
      if (PATH_INDICES.has(index) || isNamed(name, ':path')) path = decodedText(value);
      else if (name !== undefined && TIMEOUT_NAMES.some((one) => one.equals(name.bytes))) {
        timeoutMs = timeoutOf(decodedText(value));
      }
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined;
    throw thrown;
  }
  return { path, timeoutMs };
}

function isNamed(name: Text | undefined, wanted: string): boolean {
  return name !== undefined && name.bytes.length <= wanted.length && decodedText(name) === wanted;
}
