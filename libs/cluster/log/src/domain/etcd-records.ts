/** Values of a log's keys in etcd, as bytes. */

import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import type { LogEntry } from './cluster-log.js';

const headSchema = z.object({
  /** Identity of the log. */
  identity: z.string(),
  offset: z.number().int(),
  chain: z.string(),
  atMs: z.number(),
  /** ID of the transaction that put the entry. */
  by: z.string(),
  anew: z.object({ founder: z.string(), continues: z.array(z.string()) }).optional(),
});
const baseSchema = z.object({ offset: z.number().int(), chain: z.string() });
const linkSchema = z.object({ atMs: z.number(), chain: z.string() });

/** End of the log. */
export type LogHead = z.infer<typeof headSchema>;
/** The newest entry that is not there any more. */
export type LogBase = z.infer<typeof baseSchema>;

export const recordBytes = (record: LogHead | LogBase): Buffer =>
  Buffer.from(JSON.stringify(record));

/** @throws TesseraError STORE_CORRUPT */
export const headOf = (value: Buffer): LogHead => parsed(headSchema, 'head', value);
/** @throws TesseraError STORE_CORRUPT */
export const baseOf = (value: Buffer): LogBase => parsed(baseSchema, 'base', value);

export function linkBytes(atMs: number, chain: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ atMs, chain })}\n`), bytes]);
}

/** @throws TesseraError STORE_CORRUPT */
export function linkOf(offset: number, value: Buffer): LogEntry {
  const end = value.indexOf('\n');
  const link = parsed(linkSchema, `entry ${offset}`, value.subarray(0, Math.max(0, end)));
  return { offset, atMs: link.atMs, chain: link.chain, bytes: value.subarray(end + 1) };
}

function parsed<T>(schema: z.ZodType<T>, what: string, value: Buffer): T {
  try {
    return schema.parse(JSON.parse(value.toString()));
  } catch (cause) {
    const message = `${what} of the cluster log in etcd: expected a record of it, got other bytes`;
    throw new TesseraError('STORE_CORRUPT', message, { cause });
  }
}
