import { TesseraError } from '@tessera/errors';
import type { IHeaders, KafkaMessage } from 'kafkajs';

export const RECORD_HEADERS = {
  version: 'tessera-version',
  correlationId: 'tessera-correlation-id',
  reason: 'tessera-reason',
  code: 'tessera-code',
  topic: 'tessera-topic',
  partition: 'tessera-partition',
  offset: 'tessera-offset',
  valueBytes: 'tessera-value-bytes',
  undecodable: 'tessera-undecodable',
} as const;

/** A record of a topic as handlers see it. */
export interface TopicRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
  /** Milliseconds since 1970. */
  readonly timestampMs: number;
}

export function recordOf(topic: string, partition: number, message: KafkaMessage): TopicRecord {
  const { offset, key, value, timestamp } = message;
  const headers = headersOf(message.headers ?? {});
  return { topic, partition, offset, key, value, headers, timestampMs: Number(timestamp) };
}

/** Headers by name; of a header that is given more than once the last counts. */
function headersOf(headers: IHeaders): Record<string, Buffer> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, given]) => {
      const last = Array.isArray(given) ? given.at(-1) : given;
      return last === undefined ? [] : [[name, Buffer.from(last)]];
    }),
  );
}

/** @throws TesseraError REQUEST_INVALID when the record is of another version of its payload */
export function checkVersion(record: TopicRecord, version: string): void {
  const got = record.headers[RECORD_HEADERS.version]?.toString() ?? version;
  if (got === version) return;
  throw new TesseraError(
    'REQUEST_INVALID',
    `${RECORD_HEADERS.version}: expected ${version}, got ${got.slice(0, 40)}`,
    { field: RECORD_HEADERS.version },
  );
}

/** @throws TesseraError REQUEST_INVALID when the key is not the user's ID */
export function checkKey(record: TopicRecord, userId: string): void {
  if (record.key?.toString() === userId) return;
  const got = record.key === null ? 'none' : `'${record.key.toString().slice(0, 80)}'`;
  throw new TesseraError('REQUEST_INVALID', `key: expected the user ID '${userId}', got ${got}`, {
    field: 'key',
  });
}
