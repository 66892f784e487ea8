/**
 * Packed records (native/src/abi/README.md): words of 32 bits in the machine's order, written field
 * by field and read in the same order. The functions that do so for each record are generated.
 */

/** Words of the record, first word of its texts, bytes of these, 1 where all are ASCII. */
const HEADER_WORDS = 4;
const WORD_BYTES = 4;
const WORDS_AT_FIRST = 4096;
const UINT32_MAX = 0xffff_ffff;
const TWO_32 = 2 ** 32;
/** Bytes that a character of a string takes in UTF-8 at most. */
const BYTES_PER_UNIT = 3;

const wordsFor = (bytes: number): number => Math.ceil(bytes / WORD_BYTES);

/** A double as two words. */
const pair = new Uint32Array(2);
const double = new Float64Array(pair.buffer);

/** Records end to end; begin() and end() around each. Its memory is used again after reset(). */
export class PackedWriter {
  words = new Uint32Array(WORDS_AT_FIRST);
  private integers = new Int32Array(this.words.buffer);
  private floats = new Float32Array(this.words.buffer);
  private bytes = Buffer.from(this.words.buffer);
  private first = 0;
  private at = 0;
  /** The texts of the record end to end, one by one, and the words that have their lengths. */
  private pool = '';
  private pooled: string[] = [];
  private lengthsAt: number[] = [];

  /** Words written. */
  get length(): number {
    return this.at;
  }

  reset(): void {
    this.at = 0;
  }

  /** Writes one record alone, as the addon takes it: good until the writer is used again. */
  record<T>(
    write: (to: PackedWriter, from: T) => void,
    from: T,
  ): readonly [words: Uint32Array, count: number] {
    this.reset();
    this.begin();
    write(this, from);
    this.end();
    return [this.words, this.at];
  }

  begin(): void {
    this.first = this.at;
    this.pool = '';
    this.pooled = [];
    this.lengthsAt = [];
    this.reserve(HEADER_WORDS);
    this.at += HEADER_WORDS;
  }

  end(): void {
    const { first, at: textsAt, pool } = this;
    this.reserve(wordsFor(pool.length * BYTES_PER_UNIT));
    const bytes = pool === '' ? 0 : this.bytes.write(pool, textsAt * WORD_BYTES, 'utf8');
    const isAscii = bytes === pool.length;
    if (!isAscii) {
      for (let i = 0; i < this.pooled.length; i++) {
        this.words[this.lengthsAt[i] as number] = Buffer.byteLength(this.pooled[i] as string);
      }
    }
    this.at = textsAt + wordsFor(bytes);
    this.words[first] = this.at - first;
    this.words[first + 1] = textsAt - first;
    this.words[first + 2] = bytes;
    this.words[first + 3] = isAscii ? 1 : 0;
  }

  /** Cut to what a word holds: too large a number is refused as such, not taken for another. */
  u32(value: number): void {
    this.reserve(1);
    this.words[this.at++] = value > 0 ? Math.min(value, UINT32_MAX) : 0;
  }

  flag(value: boolean): void {
    this.u32(value ? 1 : 0);
  }

  f64(value: number): void {
    double[0] = value;
    this.reserve(2);
    this.words[this.at++] = pair[0] as number;
    this.words[this.at++] = pair[1] as number;
  }

  u32s(values: ArrayLike<number>): void {
    this.u32(values.length);
    for (let i = 0; i < values.length; i++) this.u32(values[i] as number);
  }

  i32s(values: Int32Array): void {
    this.u32(values.length);
    this.reserve(values.length);
    this.integers.set(values, this.at);
    this.at += values.length;
  }

  f32s(values: Float32Array): void {
    this.u32(values.length);
    this.reserve(values.length);
    this.floats.set(values, this.at);
    this.at += values.length;
  }

  text(value: string): void {
    this.pooled.push(value);
    this.lengthsAt.push(this.at);
    this.pool += value;
    this.u32(value.length);
  }

  texts(values: readonly string[]): void {
    this.u32(values.length);
    for (const value of values) this.text(value);
  }

  paths(values: readonly (readonly number[])[]): void {
    this.u32(values.length);
    for (const value of values) this.u32s(value);
  }

  blob(value: Uint8Array): void {
    const bytes = value.length;
    this.u32(bytes);
    this.reserve(wordsFor(bytes));
    this.bytes.set(value, this.at * WORD_BYTES);
    this.at += wordsFor(bytes);
  }

  blobs(values: readonly Uint8Array[]): void {
    this.u32(values.length);
    for (const value of values) this.blob(value);
  }

  list<T>(values: readonly T[], write: (to: PackedWriter, each: T) => void): void {
    this.u32(values.length);
    for (const value of values) write(this, value);
  }

  private reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.words.length) return;
    const grown = new Uint32Array(Math.max(needed, 2 * this.words.length));
    grown.set(this.words);
    this.words = grown;
    this.integers = new Int32Array(grown.buffer);
    this.floats = new Float32Array(grown.buffer);
    this.bytes = Buffer.from(grown.buffer);
  }
}

/** Keys and values as they lie in one piece of memory, from its beginning end to end. */
export class PackedEntries {
  /** `ends`: of the first key, of the first value, and so on. */
  constructor(
    readonly bytes: Buffer,
    private readonly ends: Uint32Array,
  ) {}

  get length(): number {
    return this.ends.length / 2;
  }

  /** In their order; no object is made for an entry. */
  each(visit: (keyBegin: number, valueBegin: number, valueEnd: number) => void): void {
    const { ends } = this;
    let begin = 0;
    for (let i = 0; i < ends.length; i += 2) {
      const end = ends[i + 1] as number;
      visit(begin, ends[i] as number, end);
      begin = end;
    }
  }
}

/** Reads the records of an array, which lie end to end, in any order of the records. */
export class PackedReader {
  private readonly floats: Float32Array;
  private readonly bytes: Buffer;
  private at = 0;
  private pool = '';
  private isAscii = true;
  /** In the pool, or in bytes where it is not decoded as a whole. */
  private textAt = 0;

  constructor(private readonly words: Uint32Array) {
    const { buffer, byteOffset, length, byteLength } = words;
    this.floats = new Float32Array(buffer, byteOffset, length);
    this.bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  }

  /** Beginnings of the records. */
  records(): number[] {
    const firsts: number[] = [];
    for (let at = 0; at < this.words.length; at += this.words[at] as number) firsts.push(at);
    return firsts;
  }

  /** Goes to the record that begins there. */
  open(first: number): this {
    this.at = first + 1;
    const textsAt = (first + this.u32()) * WORD_BYTES;
    const bytes = this.u32();
    this.isAscii = this.flag();
    this.pool = this.isAscii ? this.bytes.toString('latin1', textsAt, textsAt + bytes) : '';
    this.textAt = this.isAscii ? 0 : textsAt;
    return this;
  }

  u32(): number {
    return this.words[this.at++] as number;
  }

  flag(): boolean {
    return this.u32() === 1;
  }

  u53(): number {
    const low = this.u32();
    return low + this.u32() * TWO_32;
  }

  f32(): number {
    return this.floats[this.at++] as number;
  }

  /** Word by its place among the words. */
  word<Word extends string>(words: readonly Word[]): Word {
    return words[this.u32()] as Word;
  }

  text(): string {
    const begin = this.textAt;
    this.textAt += this.u32();
    return this.isAscii
      ? this.pool.substring(begin, this.textAt)
      : this.bytes.toString('utf8', begin, this.textAt);
  }

  codes(): number[] {
    const count = this.u32();
    const codes: number[] = new Array(count);
    for (let i = 0; i < count; i++) codes[i] = this.u32();
    return codes;
  }

  f32s(): Float32Array {
    const count = this.u32();
    this.at += count;
    return this.floats.slice(this.at - count, this.at);
  }

  /** Records of so many words each, as they lie. */
  rows(width: number): Uint32Array {
    const count = this.u32() * width;
    this.at += count;
    return this.words.slice(this.at - count, this.at);
  }

  /** Good as long as the words: nothing is copied. */
  blob(): Buffer {
    const bytes = this.u32();
    const begin = this.at * WORD_BYTES;
    this.at += wordsFor(bytes);
    return this.bytes.subarray(begin, begin + bytes);
  }

  /** Reads packed entries. */
  entries(): PackedEntries {
    const count = 2 * this.u32();
    const ends = this.words.subarray(this.at, this.at + count);
    this.at += count;
    const begin = this.at * WORD_BYTES;
    const bytes = ends[count - 1] ?? 0;
    this.at += wordsFor(bytes);
    return new PackedEntries(this.bytes.subarray(begin, begin + bytes), ends);
  }

  list<T>(read: (from: PackedReader) => T): T[] {
    const count = this.u32();
    const list: T[] = new Array(count);
    for (let i = 0; i < count; i++) list[i] = read(this);
    return list;
  }
}
