/**
 * Packed records (native/src/abi/README.md): words of 32 bits in the machine's order, written field
 * by field and read in the same order. The functions that do so for each record are generated.
 */ /** Words of the record, first word of its texts, bytes of these, 1 where all are ASCII. */ const HEADER_WORDS = 4;
const WORD_BYTES = 4;
const WORDS_AT_FIRST = 4096;
const UINT32_MAX = 0xffff_ffff;
const TWO_32 = 2 ** 32;
/** Bytes that a character of a string takes in UTF-8 at most. */ const BYTES_PER_UNIT = 3;
const wordsFor = (bytes)=>Math.ceil(bytes / WORD_BYTES);
/** A double as two words. */ const pair = new Uint32Array(2);
const double = new Float64Array(pair.buffer);
/** Records end to end; begin() and end() around each. Its memory is used again after reset(). */ export class PackedWriter {
    words = new Uint32Array(WORDS_AT_FIRST);
    integers = new Int32Array(this.words.buffer);
    floats = new Float32Array(this.words.buffer);
    bytes = Buffer.from(this.words.buffer);
    first = 0;
    at = 0;
    /** The texts of the record end to end, one by one, and the words that have their lengths. */ pool = '';
    pooled = [];
    lengthsAt = [];
    /** Words written. */ get length() {
        return this.at;
    }
    reset() {
        this.at = 0;
    }
    /** One record alone, as the addon takes it: good until the writer is used again. */ record(write, from) {
        this.reset();
        this.begin();
        write(this, from);
        this.end();
        return [
            this.words,
            this.at
        ];
    }
    begin() {
        this.first = this.at;
        this.pool = '';
        this.pooled = [];
        this.lengthsAt = [];
        this.reserve(HEADER_WORDS);
        this.at += HEADER_WORDS;
    }
    end() {
        const { first, at: textsAt, pool } = this;
        this.reserve(wordsFor(pool.length * BYTES_PER_UNIT));
        const bytes = pool === '' ? 0 : this.bytes.write(pool, textsAt * WORD_BYTES, 'utf8');
        const isAscii = bytes === pool.length;
        if (!isAscii) {
            for(let i = 0; i < this.pooled.length; i++){
                this.words[this.lengthsAt[i]] = Buffer.byteLength(this.pooled[i]);
            }
        }
        this.at = textsAt + wordsFor(bytes);
        this.words[first] = this.at - first;
        this.words[first + 1] = textsAt - first;
        this.words[first + 2] = bytes;
        this.words[first + 3] = isAscii ? 1 : 0;
    }
    /** Cut to what a word holds: too large a number is refused as such, not taken for another. */ u32(value) {
        this.reserve(1);
        this.words[this.at++] = value > 0 ? Math.min(value, UINT32_MAX) : 0;
    }
    flag(value) {
        this.u32(value ? 1 : 0);
    }
    f64(value) {
        double[0] = value;
        this.reserve(2);
        this.words[this.at++] = pair[0];
        this.words[this.at++] = pair[1];
    }
    u32s(values) {
        this.u32(values.length);
        for(let i = 0; i < values.length; i++)this.u32(values[i]);
    }
    i32s(values) {
        this.u32(values.length);
        this.reserve(values.length);
        this.integers.set(values, this.at);
        this.at += values.length;
    }
    f32s(values) {
        this.u32(values.length);
        this.reserve(values.length);
        this.floats.set(values, this.at);
        this.at += values.length;
    }
    text(value) {
        this.pooled.push(value);
        this.lengthsAt.push(this.at);
        this.pool += value;
        this.u32(value.length);
    }
    texts(values) {
        this.u32(values.length);
        for (const value of values)this.text(value);
    }
    paths(values) {
        this.u32(values.length);
        for (const value of values)this.u32s(value);
    }
    blob(value) {
        const bytes = value.length;
        this.u32(bytes);
        this.reserve(wordsFor(bytes));
        this.bytes.set(value, this.at * WORD_BYTES);
        this.at += wordsFor(bytes);
    }
    blobs(values) {
        this.u32(values.length);
        for (const value of values)this.blob(value);
    }
    list(values, write) {
        this.u32(values.length);
        for (const value of values)write(this, value);
    }
    reserve(count) {
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
/** Keys and values as they lie in one piece of memory, from its beginning end to end. */ export class PackedEntries {
    bytes;
    ends;
    /** `ends`: of the first key, of the first value, and so on. */ constructor(bytes, ends){
        this.bytes = bytes;
        this.ends = ends;
    }
    get length() {
        return this.ends.length / 2;
    }
    /** In their order; no object is made for an entry. */ each(visit) {
        const { ends } = this;
        let begin = 0;
        for(let i = 0; i < ends.length; i += 2){
            const end = ends[i + 1];
            visit(begin, ends[i], end);
            begin = end;
        }
    }
}
/** Reads the records of an array, which lie end to end, in any order of the records. */ export class PackedReader {
    words;
    floats;
    bytes;
    at = 0;
    pool = '';
    isAscii = true;
    /** In the pool, or in bytes where it is not decoded as a whole. */ textAt = 0;
    constructor(words){
        this.words = words;
        const { buffer, byteOffset, length, byteLength } = words;
        this.floats = new Float32Array(buffer, byteOffset, length);
        this.bytes = Buffer.from(buffer, byteOffset, byteLength);
    }
    /** Where each record begins. */ records() {
        const firsts = [];
        for(let at = 0; at < this.words.length; at += this.words[at])firsts.push(at);
        return firsts;
    }
    /** Goes to the record that begins there. */ open(first) {
        this.at = first + 1;
        const textsAt = (first + this.u32()) * WORD_BYTES;
        const bytes = this.u32();
        this.isAscii = this.flag();
        this.pool = this.isAscii ? this.bytes.toString('latin1', textsAt, textsAt + bytes) : '';
        this.textAt = this.isAscii ? 0 : textsAt;
        return this;
    }
    u32() {
        return this.words[this.at++];
    }
    flag() {
        return this.u32() === 1;
    }
    u53() {
        const low = this.u32();
        return low + this.u32() * TWO_32;
    }
    f32() {
        return this.floats[this.at++];
    }
    /** One of the words, by its place. */ word(words) {
        return words[this.u32()];
    }
    text() {
        const begin = this.textAt;
        this.textAt += this.u32();
        return this.isAscii ? this.pool.substring(begin, this.textAt) : this.bytes.toString('utf8', begin, this.textAt);
    }
    codes() {
        const count = this.u32();
        const codes = new Array(count);
        for(let i = 0; i < count; i++)codes[i] = this.u32();
        return codes;
    }
    f32s() {
        const count = this.u32();
        this.at += count;
        return this.floats.slice(this.at - count, this.at);
    }
    /** Records of so many words each, as they lie. */ rows(width) {
        const count = this.u32() * width;
        this.at += count;
        return this.words.slice(this.at - count, this.at);
    }
    /** Good as long as the words: nothing is copied. */ blob() {
        const bytes = this.u32();
        const begin = this.at * WORD_BYTES;
        this.at += wordsFor(bytes);
        return this.bytes.subarray(begin, begin + bytes);
    }
    /** The same. */ entries() {
        const count = 2 * this.u32();
        const ends = this.words.subarray(this.at, this.at + count);
        this.at += count;
        const begin = this.at * WORD_BYTES;
        const bytes = ends[count - 1] ?? 0;
        this.at += wordsFor(bytes);
        return new PackedEntries(this.bytes.subarray(begin, begin + bytes), ends);
    }
    list(read) {
        const count = this.u32();
        const list = new Array(count);
        for(let i = 0; i < count; i++)list[i] = read(this);
        return list;
    }
}

//# sourceMappingURL=packed.js.map