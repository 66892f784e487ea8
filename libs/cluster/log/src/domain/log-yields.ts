import type { LogEntry } from './cluster-log.js';

/** Of what a reader gives at once, in bytes and entries, unless one entry has more. */
export const YIELD_BYTES_MAX = 4 << 20;
export const YIELD_ENTRIES_MAX = 512;

/** The same entries in their order, in parts of at most so many bytes and entries. */
export function* inYields(entries: readonly LogEntry[]): Generator<readonly LogEntry[]> {
  let part: LogEntry[] = [];
  let total = 0;
  for (const entry of entries) {
    const isFull =
      part.length === YIELD_ENTRIES_MAX || total + entry.bytes.length > YIELD_BYTES_MAX;
    if (isFull && part.length > 0) {
      yield part;
      part = [];
      total = 0;
    }
    part.push(entry);
    total += entry.bytes.length;
  }
  if (part.length > 0) yield part;
}
