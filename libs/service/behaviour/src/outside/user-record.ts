import type { StoreEntry } from '@tessera/engine';
import { erasedKey, readTime, recordKey, timeBytes } from './embedded-keys.js';

/** The record of a user beside the behaviours. */
export interface UserRecord {
  readonly known: boolean;
  readonly profile: Readonly<Record<string, string>>;
  /** -1: never erased. Lies under a digest of the user's ID, which may not be found any more. */
  readonly erasedUntilMs: number;
  /** Behaviours per window; those too old are counted until they are purged. */
  readonly counts: readonly number[];
  readonly purgedMs: number;
  /** Number of the newest event to arrive; 0: none since releases that had no such number. */
  readonly arrival: number;
}

/** Keys that recordOf() reads. */
export const keysOfRecord = (userId: string): Buffer[] => [recordKey(userId), erasedKey(userId)];

/** @param none what a user has of whom there is nothing */
export function recordOf(
  value: Buffer | undefined,
  erased: Buffer | undefined,
  none: UserRecord,
): UserRecord {
  const record = value === undefined ? none : readRecord(value);
  if (erased === undefined) return record;
  const erasedUntilMs = Math.max(readTime(erased, 0), record.erasedUntilMs);
  return { ...record, erasedUntilMs };
}

/** A store of a release before has the time of the erasure in the record itself. */
export function readRecord(value: Buffer): UserRecord {
  const { erasedUntilMs = -1, arrival = 0, ...record } = JSON.parse(value.toString());
  return { ...record, erasedUntilMs, arrival };
}

/** Entries of a user; of an unknown user, nothing that names them. */
export function recordEntries(userId: string, record: UserRecord): StoreEntry[] {
  const { erasedUntilMs, ...kept } = record;
  const entries: StoreEntry[] = [];
  if (record.known) {
    entries.push({ key: recordKey(userId), value: Buffer.from(JSON.stringify(kept)) });
  }
  if (erasedUntilMs >= 0) {
    entries.push({ key: erasedKey(userId), value: timeBytes(erasedUntilMs) });
  }
  return entries;
}
