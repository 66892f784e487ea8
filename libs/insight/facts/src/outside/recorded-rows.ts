import type { DuckDBConnection } from '@duckdb/node-api';
import { bytesOf, parquetOf, tableFiles } from './fact-folder.js';

/** Tables that the console looks into, whose bytes are limited by themselves. */
export const DETAIL_TABLES = ['recalls', 'pulses', 'changes'] as const;

/** Recorded recalls, and the bytes of all tables that the console looks into. */
export interface RecordedSizes {
  readonly recalls: number;
  readonly items: number;
  readonly usedBytes: number;
  /** Times of the oldest and the newest, milliseconds since 1970; 0 where there is none. */
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** Columns of all recorded recalls, in files or not yet. */
function allRecorded(folder: string, columns: string): string {
  const files = tableFiles(folder, 'recalls');
  const waiting = `SELECT ${columns} FROM recalls`;
  if (files.length === 0) return `(${waiting})`;
  return `(${waiting} UNION ALL SELECT ${columns} FROM ${parquetOf(files)})`;
}

/** IDs of the recorded recalls of a pseudonym. */
export async function recordedIds(
  connection: DuckDBConnection,
  folder: string,
  pseudonym: string,
): Promise<string[]> {
  const all = allRecorded(folder, 'id, user_hash');
  const reader = await connection.runAndReadAll(
    `SELECT id FROM ${all} WHERE user_hash = ${pseudonym}`,
  );
  return reader.getRowsJson().map(([id]) => String(id));
}

export async function recordedSizes(
  connection: DuckDBConnection,
  folder: string,
): Promise<RecordedSizes> {
  const time = (of: string) => `coalesce(epoch_ms(${of}(time)), 0)::DOUBLE`;
  const reader = await connection.runAndReadAll(
    `SELECT count(*)::DOUBLE, coalesce(sum(item_count), 0)::DOUBLE, ${time('min')}, ` +
      `${time('max')} FROM ${allRecorded(folder, 'time, item_count')}`,
  );
  const [found = []] = reader.getRowsJson();
  const [recalls = 0, items = 0, oldestMs = 0, newestMs = 0] = found.map(Number);
  const usedBytes = await bytesOf(DETAIL_TABLES.flatMap((name) => tableFiles(folder, name)));
  return { recalls, items, usedBytes, oldestMs, newestMs };
}
