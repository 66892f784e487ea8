import { TesseraError } from '@tessera/errors';
import { bodyOf, type ClusterLog, type EntryStore, type LogBounds } from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { fileName, filesOf, type Manifest, parsedManifest } from './domain/manifest.js';
import type { StateFiles } from './domain/state-files.js';
import { entriesOf } from './entries-of.js';

/** Kinds of entries that name a snapshot. */
export const BEGINS = 'begins';
export const SNAPSHOT = 'snapshot';

interface Places {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly nodeLog: Pick<Log, 'info' | 'warn'>;
}

/**
 * Fetches the newest snapshot that is whole and has every entry up to `offset`, beside the state of
 * this node. Undefined where there is none. One that is damaged is passed over for the one before.
 */
export async function fetchedSnapshot(
  { files, ...places }: Places & { readonly files: StateFiles },
  bounds: LogBounds,
  offset: number,
): Promise<Manifest | undefined> {
  for await (const manifest of snapshotsOf(places, bounds)) {
    if (manifest.offset < Math.max(offset, bounds.first - 1)) return undefined;
    try {
      await files.fetch(places.store, manifest);
      return manifest;
    } catch (thrown) {
      unlessDamaged(places, thrown);
    }
  }
  return undefined;
}

/** For a node that keeps users' data alone: it needs the names of the erased. */
export async function newestSnapshot(
  places: Places,
  bounds: LogBounds,
): Promise<Manifest | undefined> {
  for await (const manifest of snapshotsOf(places, bounds)) return manifest;
  return undefined;
}

/** The log names a snapshot with every entry up to `offset`, and the store has all files of it. */
export async function hasSnapshot(
  places: Places,
  bounds: LogBounds,
  offset: number,
): Promise<boolean> {
  const there = new Set(await places.store.list(filesOf(bounds.identity)));
  for await (const { log, offset: own, files } of snapshotsOf(places, bounds)) {
    if (own < offset) return false;
    if (files.every(({ sha256 }) => there.has(fileName(log, sha256)))) return true;
  }
  return false;
}

/** Snapshots that the log names, newest first. */
async function* snapshotsOf(places: Places, { first, end }: LogBounds): AsyncGenerator<Manifest> {
  const { log, store } = places;
  const names: string[] = [];
  let hasBegun = false;
  for await (const { kind, text } of entriesOf(log, first, end)) {
    // Of several founders the first counts: the others' entries are repeated ones.
    if (kind === SNAPSHOT || (kind === BEGINS && !hasBegun)) names.push(snapshotIn(text));
    hasBegun ||= kind === BEGINS;
  }
  for (const name of names.filter(Boolean).reverse()) {
    try {
      yield parsedManifest(name, await store.get(name));
    } catch (thrown) {
      unlessDamaged(places, thrown);
    }
  }
}

function unlessDamaged({ nodeLog }: Places, thrown: unknown): void {
  const error = TesseraError.from(thrown);
  if (error.code !== 'STORE_CORRUPT' && error.code !== 'REQUEST_INVALID') throw error;
  nodeLog.warn({ err: error }, 'a snapshot of the cluster log cannot be used');
}

/** '' where the entry names none. */
function snapshotIn(text: string): string {
  try {
    const { snapshot } = bodyOf(text) as { readonly snapshot?: unknown };
    return typeof snapshot === 'string' ? snapshot : '';
  } catch {
    return '';
  }
}
