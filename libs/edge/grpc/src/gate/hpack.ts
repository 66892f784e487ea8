/**
 * Blocks of headers (HPACK, RFC 7541), read without a decoder's state: a peer that was asked to
 * keep no dynamic table writes every block so that it stands alone.
 */

/**
 * RFC 7541, appendix B: bits of a code, and the characters that have so many, in the order of their
 * codes. The code is canonical, so this gives every code. Of the characters that can be seen, the
 * backslash is left out.
 */
const CODES: readonly (readonly [bits: number, characters: string])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\0$@[]~'],
  [14, '^}'],
  [15, '<`{'],
];
const CODE_BITS_MAX = 15;
/** Character codes by Huffman code with a 1 before it; 0: none. */
const SYMBOLS = new Uint8Array(2 ** (CODE_BITS_MAX + 1));
const HUFFMAN = new Map<string, string>();
let code = 0;
let codeBits = 0;
for (const [bits, characters] of CODES) {
  code <<= bits - codeBits;
  codeBits = bits;
  for (const char of characters) {
    SYMBOLS[(1 << bits) | code] = char.charCodeAt(0);
    HUFFMAN.set(char, code.toString(2).padStart(bits, '0'));
    code += 1;
  }
}

const STATIC_ENTRIES = 61;
/** Names that are read, by their places in the static table (RFC 7541, appendix A). */
const STATIC_NAMES: Readonly<Record<number, string>> = {
  4: ':path',
  5: ':path',
  23: 'authorization',
  31: 'content-type',
};
/** Of a caller's fields; longer values are not decoded. */
const VALUE_BYTES_MAX = 4096;

/** The Huffman code of a text. */
export function huffman(text: string): Buffer {
  const bits = [...text].map((char) => HUFFMAN.get(char) ?? '').join('');
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

function fieldValue({ bytes, isCoded }: Text, bytesMax: number): string | undefined {
  if (bytes.length > bytesMax) return undefined;
  return isCoded ? decoded(bytes) : bytes.toString('latin1');
}

/**
 * Visits the fields of these names in their order; a value is undefined where it cannot be read.
 * @returns false where the block does not stand alone, or is none
 */
export function eachHeader(
  block: Buffer,
  names: ReadonlySet<string>,
  visit: (name: string, value: string | undefined) => void,
  valueBytesMax = VALUE_BYTES_MAX,
): boolean {
  const reader = new BlockReader(block);
  try {
    while (!reader.isAtEnd) {
      const first = reader.peek();
      if ((first & 0x80) !== 0) {
        if (reader.integer(7) > STATIC_ENTRIES) return false;
        continue;
      }
      if ((first & 0xe0) === 0x20) {
        reader.integer(5);
        continue;
      }
      const index = reader.integer((first & 0x40) !== 0 ? 6 : 4);
      if (index > STATIC_ENTRIES) return false;
      const name = index === 0 ? nameOf(reader.text()) : STATIC_NAMES[index];
      const text = reader.text();
      if (name !== undefined && names.has(name)) visit(name, fieldValue(text, valueBytesMax));
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
  return true;
}
