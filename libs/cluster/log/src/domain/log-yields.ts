import type { LogEntry } from './cluster-log.js';

/** Maximum bytes that a reader gives at once, unless one entry alone has more. */
const YIELD_BYTES_MAX = 4 << 20;
const YIELD_ENTRIES_MAX = 512;

/** Splits entries, in order, into parts of bounded bytes and count. */
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

/** Number of largest-size entries that fit into one part. */
const COUNT_MIN = 8;

/** How many entries of the size of the last ones come to a yield; `before` 0: of none yet. */
export function countFor(entries: readonly LogEntry[], before: number): number {
  if (entries.length === 0) return Math.max(COUNT_MIN, before);
  const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const fitting = Math.floor((YIELD_BYTES_MAX * entries.length) / (total + 1));
  return Math.min(YIELD_ENTRIES_MAX, 2 * before, Math.max(COUNT_MIN, fitting));
}
