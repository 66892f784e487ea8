/** Values of a log's keys in etcd, as bytes. */ import { TesseraError } from "../../../../ops/errors/src/index.js";
import { z } from "zod";
const headSchema = z.object({
    /** Of the log. */ identity: z.string(),
    offset: z.number().int(),
    chain: z.string(),
    atMs: z.number(),
    /** Of the transaction that put it. */ by: z.string(),
    anew: z.object({
        founder: z.string(),
        continues: z.array(z.string())
    }).optional()
});
const baseSchema = z.object({
    offset: z.number().int(),
    chain: z.string()
});
const linkSchema = z.object({
    atMs: z.number(),
    chain: z.string()
});
export const recordBytes = (record)=>Buffer.from(JSON.stringify(record));
/** @throws TesseraError STORE_CORRUPT */ export const headOf = (value)=>parsed(headSchema, 'head', value);
/** @throws TesseraError STORE_CORRUPT */ export const baseOf = (value)=>parsed(baseSchema, 'base', value);
export function linkBytes(atMs, chain, bytes) {
    return Buffer.concat([
        Buffer.from(`${JSON.stringify({
            atMs,
            chain
        })}\n`),
        bytes
    ]);
}
/** @throws TesseraError STORE_CORRUPT */ export function linkOf(offset, value) {
    const end = value.indexOf('\n');
    const link = parsed(linkSchema, `entry ${offset}`, value.subarray(0, Math.max(0, end)));
    return {
        offset,
        atMs: link.atMs,
        chain: link.chain,
        bytes: value.subarray(end + 1)
    };
}
function parsed(schema, what, value) {
    try {
        return schema.parse(JSON.parse(value.toString()));
    } catch (cause) {
        const message = `${what} of the cluster log in etcd: expected a record of it, got other bytes`;
        throw new TesseraError('STORE_CORRUPT', message, {
            cause
        });
    }
}

//# sourceMappingURL=etcd-records.js.map