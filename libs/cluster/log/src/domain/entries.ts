import { createHash } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import type { ChainPoint } from './cluster-log.js';

/** Format of the entries that this release writes, and the newest that it can apply. */
const ENTRY_FORMAT = 2;
export const KEY_LENGTH_MAX = 128;
/** Hexadecimal digits of a SHA-256 that are kept: 64 bits. */
const DIGEST_DIGITS = 16;
const CHAIN_DIGITS = 32;

/** An act: `kind` says which part of the state does it, `body` is its own. */
export interface Act {
  readonly kind: string;
  /** Content: JSON values and Float32Arrays. */
  readonly body: unknown;
}

export interface Entry extends Act {
  /** Key that the caller gives, or a random one. */
  readonly key: string;
  /** Node that appended it. */
  readonly node: string;
}

/** An entry whose body lies in the entry store. */
export interface StoredBody {
  readonly stored: string;
}

/** The one member of an object that stands for a vector. */
const FLOATS = '\u0000f32';

/** Bodies as text: vectors keep their bits. */
export function bodyText(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) => {
    if (!(value instanceof Float32Array)) return value;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { [FLOATS]: bytes.toString('base64') };
  });
}

/** @throws SyntaxError where the text is no JSON */
export function bodyOf(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const [[name, floats] = [], ...more] = Object.entries(value);
    const isVector = name === FLOATS && more.length === 0 && typeof floats === 'string';
    const bytes = Buffer.from(isVector ? floats : '', 'base64');
    if (!isVector || bytes.length % Float32Array.BYTES_PER_ELEMENT > 0) return value;
    return new Float32Array(Uint8Array.from(bytes).buffer);
  });
}

/**
 * `body` '' where it is in the store under `stored`; `after`: what the appender had applied, by
 * which an entry of another history is known.
 */
export function entryBytes(
  { key, node, kind }: Omit<Entry, 'body'>,
  body: string,
  after: ChainPoint,
  stored = '',
): Uint8Array {
  const { offset, chain } = after;
  const words = { format: ENTRY_FORMAT, key, node, kind, stored, after: { offset, chain } };
  const head = JSON.stringify(words);
  return Buffer.from(`${head}\n${body}`);
}

export interface ReadEntry extends Omit<Entry, 'body'> {
  /** '' where it is in the store. */
  readonly text: string;
  readonly stored: string;
  readonly after: ChainPoint;
}

/**
 * @throws TesseraError STORE_NEWER for an entry of a newer release; STORE_CORRUPT for what is none
 */
export function readEntry(bytes: Uint8Array): ReadEntry {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = content.indexOf('\n');
  const head = headOf(content.subarray(0, Math.max(0, end)).toString());
  if (typeof head.format === 'number' && head.format > ENTRY_FORMAT) {
    const message = `expected entries of format ${ENTRY_FORMAT} at most, got ${head.format}`;
    throw new TesseraError('STORE_NEWER', `${message}, which a newer release wrote`);
  }
  const found = headSchema.safeParse(head);
  if (found.success) {
    const { key, node, kind, stored, after } = found.data;
    return { key, node, kind, stored, after, text: content.subarray(end + 1).toString() };
  }
  throw new TesseraError('STORE_CORRUPT', 'expected an entry of a cluster log, got other bytes');
}

const headSchema = z.object({
  format: z.literal(ENTRY_FORMAT),
  key: z.string(),
  node: z.string(),
  kind: z.string(),
  stored: z.string(),
  after: z.object({ offset: z.number().int(), chain: z.string() }),
});

function headOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const head: unknown = JSON.parse(text);
    return typeof head === 'object' && head !== null ? (head as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Next link of a log's chain: the digest of the chain before and of this entry. */
export function chained(before: string, bytes: Uint8Array): string {
  const hash = createHash('sha256').update(before).update('\0').update(bytes);
  return hash.digest('hex').slice(0, CHAIN_DIGITS);
}

/** Digest of an entry, which positions and names of snapshots have. */
export function digestOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
}
