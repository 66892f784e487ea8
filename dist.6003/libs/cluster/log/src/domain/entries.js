import { createHash } from "node:crypto";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { z } from "zod";
/** Of the entries that this release writes, and the newest that it can apply. */ const ENTRY_FORMAT = 2;
export const KEY_LENGTH_MAX = 128;
/** Of SHA-256, in hexadecimal: 64 bits, as many as the digests of earlier releases. */ const DIGEST_DIGITS = 16;
const CHAIN_DIGITS = 32;
/** The one member of an object that stands for a vector, by the format of the entry. */ const FLOATS = {
    1: 'f32',
    [ENTRY_FORMAT]: '\u0000f32'
};
/** Bodies as text: vectors keep their bits. */ export function bodyText(body) {
    return JSON.stringify(body, (_, value)=>{
        if (!(value instanceof Float32Array)) return value;
        const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
        return {
            [FLOATS[ENTRY_FORMAT]]: bytes.toString('base64')
        };
    });
}
/** @throws SyntaxError where the text is no JSON */ export function bodyOf(text, format = ENTRY_FORMAT) {
    return JSON.parse(text, (_, value)=>{
        if (typeof value !== 'object' || value === null) return value;
        const [[name, floats] = [], ...more] = Object.entries(value);
        const isVector = name === FLOATS[format] && more.length === 0 && typeof floats === 'string';
        const bytes = Buffer.from(isVector ? floats : '', 'base64');
        if (!isVector || bytes.length % Float32Array.BYTES_PER_ELEMENT > 0) return value;
        return new Float32Array(Uint8Array.from(bytes).buffer);
    });
}
/**
 * `body` '' where it is in the store under `stored`; `after`: what the appender had applied, by
 * which an entry of another history is known.
 */ export function entryBytes({ key, node, kind }, body, after, stored = '') {
    const { offset, chain } = after;
    const words = {
        format: ENTRY_FORMAT,
        key,
        node,
        kind,
        stored,
        after: {
            offset,
            chain
        }
    };
    const head = JSON.stringify(words);
    return Buffer.from(`${head}\n${body}`);
}
/**
 * @throws TesseraError STORE_NEWER for an entry of a newer release; STORE_CORRUPT for what is none
 */ export function readEntry(bytes) {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = content.indexOf('\n');
    const head = headOf(content.subarray(0, Math.max(0, end)).toString());
    if (typeof head.format === 'number' && head.format > ENTRY_FORMAT) {
        const message = `expected entries of format ${ENTRY_FORMAT} at most, got ${head.format}`;
        throw new TesseraError('STORE_NEWER', `${message}, which a newer release wrote`);
    }
    const found = headSchema.safeParse(head);
    if (found.success) return {
        ...found.data,
        text: content.subarray(end + 1).toString()
    };
    throw new TesseraError('STORE_CORRUPT', 'expected an entry of a cluster log, got other bytes');
}
const headSchema = z.object({
    format: z.union([
        z.literal(1),
        z.literal(ENTRY_FORMAT)
    ]),
    key: z.string(),
    node: z.string(),
    kind: z.string(),
    stored: z.string(),
    after: z.object({
        offset: z.number().int(),
        chain: z.string()
    }).optional().transform((after)=>after)
});
function headOf(text) {
    try {
        const head = JSON.parse(text);
        return typeof head === 'object' && head !== null ? head : {};
    } catch  {
        return {};
    }
}
/** Of a log's chain one link on: the digest of what was before and of this entry. */ export function chained(before, bytes) {
    const hash = createHash('sha256').update(before).update('\0').update(bytes);
    return hash.digest('hex').slice(0, CHAIN_DIGITS);
}
/** Of positions of the release before, which knew an entry alone. */ export function digestOfBytes(bytes) {
    return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
}

//# sourceMappingURL=entries.js.map