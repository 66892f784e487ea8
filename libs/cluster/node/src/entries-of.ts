import { type ClusterLog, type ReadEntry, readEntry } from '@tessera/log';

export interface PlacedEntry extends ReadEntry {
  readonly offset: number;
  readonly atMs: number;
}

/** Entries of the offsets that this release can read; unreadable ones are left out. */
export async function* entriesOf(
  log: ClusterLog,
  from: number,
  to: number,
): AsyncGenerator<PlacedEntry> {
  if (from > to) return;
  const stop = new AbortController();
  try {
    for await (const entries of log.read(from, stop.signal)) {
      for (const { offset, atMs, bytes } of entries) {
        if (offset > to) return;
        const read = readable(bytes);
        if (read !== undefined) yield { ...read, offset, atMs };
      }
      if (entries.length === 0 || (entries.at(-1)?.offset ?? 0) >= to) return;
    }
  } finally {
    stop.abort();
  }
}

function readable(bytes: Uint8Array): ReadEntry | undefined {
  try {
    return readEntry(bytes);
  } catch {
    return undefined;
  }
}
