import type { TesseraError } from '@tessera/errors';
import type { Message } from 'kafkajs';
import { RECORD_HEADERS, type TopicRecord } from './topic-record.js';

/** A reason is a header, and a broker bounds the record. */
const REASON_LENGTH_MAX = 1000;
/** A longer key is left out of a letter that is too large. */
const KEY_BYTES_KEPT = 1024;

export const deadLetterTopic = (topic: string): string => `${topic}.dead`;

/** The record as it was received, with why it could not be served and where it lay. */
export function deadLetter(record: TopicRecord, error: TesseraError): Message {
  const { key, value, headers } = record;
  return {
    key,
    value,
    headers: {
      ...headers,
      [RECORD_HEADERS.reason]: error.message.slice(0, REASON_LENGTH_MAX),
      [RECORD_HEADERS.code]: error.code,
      [RECORD_HEADERS.topic]: record.topic,
      [RECORD_HEADERS.partition]: String(record.partition),
      [RECORD_HEADERS.offset]: record.offset,
    },
  };
}

const ADDED = [
  RECORD_HEADERS.reason,
  RECORD_HEADERS.code,
  RECORD_HEADERS.topic,
  RECORD_HEADERS.partition,
  RECORD_HEADERS.offset,
] as const;

/**
 * Letter with the place and reason of a record, for a topic that does not take the whole record.
 */
export function withoutContent({ key, value, headers = {} }: Message): Message {
  const own = Object.entries(headers).filter(([name]) =>
    (ADDED as readonly string[]).includes(name),
  );
  return {
    key: (key?.length ?? 0) <= KEY_BYTES_KEPT ? (key ?? null) : null,
    value: null,
    headers: {
      ...Object.fromEntries(own),
      [RECORD_HEADERS.valueBytes]: String(value?.length ?? 0),
    },
  };
}

/**
 * A dead letter as it was before it died, and the topic that it goes back to; null where its
 * content was left where it lay.
 */
export function revived(letter: TopicRecord): { topic: string; message: Message } | null {
  const { valueBytes, undecodable } = RECORD_HEADERS;
  if (letter.headers[valueBytes] ?? letter.headers[undecodable]) return null;
  const topic = letter.headers[RECORD_HEADERS.topic]?.toString();
  if (topic === undefined || topic === '') return null;
  const headers = Object.entries(letter.headers).filter(
    ([name]) => !(ADDED as readonly string[]).includes(name),
  );
  return {
    topic,
    message: { key: letter.key, value: letter.value, headers: Object.fromEntries(headers) },
  };
}
