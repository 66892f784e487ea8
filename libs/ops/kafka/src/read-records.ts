import { TesseraError } from '@tessera/errors';
import type { TopicRecord } from './topic-record.js';

/** A record that can never be served, and why. */
export interface DeadRecord {
  readonly record: TopicRecord;
  readonly error: TesseraError;
}

/** The content of each record, in order; those that `read` refuses apart. */
export function readRecords<Content>(
  records: readonly TopicRecord[],
  read: (record: TopicRecord) => Content,
): { readonly contents: Content[]; readonly dead: DeadRecord[] } {
  const contents: Content[] = [];
  const dead: DeadRecord[] = [];
  for (const record of records) {
    try {
      contents.push(read(record));
    } catch (thrown) {
      dead.push({ record, error: TesseraError.from(thrown) });
    }
  }
  return { contents, dead };
}
