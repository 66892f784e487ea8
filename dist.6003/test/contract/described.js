/** Records as native/abi describes them, and values and words against them. */ import { PackedEntries } from "../../native/ts/index.js";
const NAMES = [
    'engine',
    'kv',
    'catalogue',
    'store',
    'completion'
];
export const parts = await Promise.all(NAMES.map(async (name)=>(await import(`../../native/abi/${name}.mjs`)).default));
/** Records that are part of others of the list. */ export function innerNames(records) {
    const fields = records.flatMap((record)=>Object.values(record.fields));
    return new Set(fields.flatMap(({ record })=>record === undefined ? [] : [
            record.name
        ]));
}
const KINDS = {
    text: (value)=>typeof value === 'string',
    flag: (value)=>typeof value === 'boolean',
    u32: Number.isInteger,
    u53: Number.isSafeInteger,
    f32: (value)=>typeof value === 'number',
    f64: (value)=>typeof value === 'number',
    bytes: (value)=>value instanceof Uint8Array,
    u32s: (value)=>value instanceof Uint32Array,
    f32s: (value)=>value instanceof Float32Array,
    f64s: (value)=>value instanceof Float64Array,
    codes: (value)=>Array.isArray(value) && value.every(Number.isInteger),
    texts: (value)=>Array.isArray(value) && value.every((text)=>typeof text === 'string'),
    handle: (value)=>typeof value === 'object' && value !== null,
    rows: (value)=>value instanceof Uint32Array,
    blob: Buffer.isBuffer,
    entries: (value)=>value instanceof PackedEntries
};
const wordsOf = ({ words = [] })=>'list' in words ? words.list : words;
/** Differences from the description, by path. */ export function faults(value, { fields }, path) {
    const members = Object.keys(value);
    if (members.join() !== Object.keys(fields).join()) return [
        `${path}: has ${members.join()}`
    ];
    return Object.entries(fields).flatMap(([name, field])=>{
        const { kind, record } = field;
        const member = value[name];
        const at = `${path}.${name}`;
        if (kind === 'one') return faults(member, record, at);
        if (kind === 'list' || kind === 'each') {
            return member.flatMap((each)=>faults(each, record, at));
        }
        const isRight = kind === 'choice' ? wordsOf(field).includes(member) : KINDS[kind]?.(member);
        return isRight === true ? [] : [
            `${at}: expected ${kind}, got ${typeof member}`
        ];
    });
}
const HEADER_WORDS = 4;
/** A reader of packed records that shares nothing with the generated ones but the description. */ export class DescribedReader {
    words;
    view;
    textsEnd;
    at = HEADER_WORDS;
    textAt;
    constructor(words){
        this.words = words;
        const { buffer, byteOffset, byteLength } = words;
        this.view = new DataView(buffer, byteOffset, byteLength);
        this.textAt = 4 * words[1];
        this.textsEnd = this.textAt + words[2];
    }
    /** True if all was read, and nothing else. */ get isWhole() {
        const { words, at, textAt, textsEnd } = this;
        return words[0] === words.length && at === words[1] && textAt === textsEnd;
    }
    record({ fields }) {
        return Object.fromEntries(Object.entries(fields).map(([name, of])=>[
                name,
                this.field(of)
            ]));
    }
    word() {
        return this.view.getUint32(4 * this.at++, true);
    }
    many(read) {
        return Array.from({
            length: this.word()
        }, read);
    }
    float() {
        return this.view.getFloat32(4 * this.at++, true);
    }
    text() {
        const begin = this.textAt;
        this.textAt += this.word();
        return Buffer.from(this.words.buffer, this.words.byteOffset + begin, this.textAt - begin).toString();
    }
    blob(bytes) {
        const begin = this.words.byteOffset + 4 * this.at;
        this.at += Math.ceil(bytes / 4);
        return Buffer.from(this.words.buffer, begin, bytes);
    }
    entries() {
        const ends = Uint32Array.from({
            length: 2 * this.word()
        }, ()=>this.word());
        return new PackedEntries(this.blob(ends.at(-1) ?? 0), ends);
    }
    field(field) {
        const record = field.record;
        const width = Object.keys(record?.fields ?? {}).length;
        const kinds = {
            u32: ()=>this.word(),
            u53: ()=>this.word() + 2 ** 32 * this.word(),
            f32: ()=>this.float(),
            flag: ()=>this.word() === 1,
            text: ()=>this.text(),
            choice: ()=>wordsOf(field)[this.word()],
            codes: ()=>this.many(()=>this.word()),
            f32s: ()=>Float32Array.from(this.many(()=>this.float())),
            rows: ()=>Uint32Array.from({
                    length: this.word() * width
                }, ()=>this.word()),
            one: ()=>this.record(record),
            list: ()=>this.many(()=>this.record(record)),
            each: ()=>this.many(()=>this.record(record)),
            blob: ()=>this.blob(this.word()),
            entries: ()=>this.entries()
        };
        return kinds[field.kind]();
    }
}

//# sourceMappingURL=described.js.map