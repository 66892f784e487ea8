import { Metadata } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';

export type Fields = Readonly<Record<string, string>>;

/** Changes of one key count once. */
export const KEY_FIELD = 'idempotency-key';

/** Headers of a caller that the node sees too: who they are, their trace, and how they want
 * a change taken. */
const PASSED_FIELDS = [
  'authorization',
  'traceparent',
  'tracestate',
  KEY_FIELD,
  'tessera-wait-for',
] as const;

export function passedFields(read: (name: string) => unknown): Fields {
  const passed: Record<string, string> = {};
  for (const name of PASSED_FIELDS) {
    const value = read(name);
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}

/**
 * Adds the gateway's own token for a caller who has none: the gateway let them in by their
 * certificate.
 */
export function withToken(fields: Fields, { token }: Pick<Connection, 'token'>): Fields {
  if (token === '' || fields.authorization !== undefined) return fields;
  return Object.assign({ authorization: `Bearer ${token}` }, fields);
}

export function metadataOf(fields: Fields): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
  return metadata;
}
