import { createHash } from 'node:crypto';
import { TesseraError } from '@tessera/errors';

/** Of the entries that this release writes, and the newest that it can apply. */
const ENTRY_FORMAT = 1;
export const KEY_LENGTH_MAX = 128;
const DIGEST_DIGITS = 16;

/** An act: `kind` says which part of the state does it, `body` is its own. */
export interface Act {
  readonly kind: string;
  /** Of JSON values and Float32Arrays. */
  readonly body: unknown;
}

export interface Entry extends Act {
  /** Of the caller, or one that nobody else has. */
  readonly key: string;
  /** Node that appended it. */
  readonly node: string;
}

/** An entry whose body lies in the entry store. */
export interface StoredBody {
  readonly stored: string;
}

const FLOATS = 'f32';

/** Bodies as text: vectors keep their bits. */
export function bodyText(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    value instanceof Float32Array
      ? {
          [FLOATS]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(
            'base64',
          ),
        }
      : value,
  );
}

export function bodyOf(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !(FLOATS in value)) return value;
    const bytes = Buffer.from(String((value as { f32: unknown }).f32), 'base64');
    return new Float32Array(Uint8Array.from(bytes).buffer);
  });
}

/** `body` '' where it is in the store under `stored`. */
export function entryBytes(
  { key, node, kind }: Omit<Entry, 'body'>,
  body: string,
  stored = '',
): Uint8Array {
  const head = JSON.stringify({ format: ENTRY_FORMAT, key, node, kind, stored });
  return Buffer.from(`${head}\n${body}`);
}

export interface ReadEntry extends Omit<Entry, 'body'> {
  /** '' where it is in the store. */
  readonly text: string;
  readonly stored: string;
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
  const { key, node, kind, stored } = head;
  const texts = [key, node, kind, stored];
  if (head.format === ENTRY_FORMAT && texts.every((text) => typeof text === 'string')) {
    const text = content.subarray(end + 1).toString();
    return { key, node, kind, stored, text } as ReadEntry;
  }
  throw new TesseraError('STORE_CORRUPT', 'expected an entry of a cluster log, got other bytes');
}

function headOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const head: unknown = JSON.parse(text);
    return typeof head === 'object' && head !== null ? (head as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** By which an entry is known again. */
export function digestOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
}
