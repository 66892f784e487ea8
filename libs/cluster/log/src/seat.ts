import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import { FILE_SYSTEM, readRegular, replaceFile } from '@tessera/files';
import type { Log } from '@tessera/telemetry';
import { type ClusterLog, type LogBounds, NO_OFFSET } from './domain/cluster-log.js';
import { bodyOf, type ReadEntry, readEntry } from './domain/entries.js';
import type { EntryStore } from './domain/entry-store.js';
import { type ErasedUser, type Manifest, parsedManifest } from './domain/manifest.js';
import type { StateFolder } from './domain/state-folder.js';
import { placeState, putAside, removeState } from './state-files.js';

/** Beside the changes: which log they follow. */
export const SEAT_FILE = 'cluster-log.json';
const ERASE_FILE = 'erase-first.json';
const FILE_BYTES_MAX = 256 << 20;
const RETRY_MS = 500;

export interface SeatParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  /** The first is that of the changes: its files say which log the state follows. */
  readonly folders: readonly [StateFolder, ...StateFolder[]];
  readonly nodeLog: Pick<Log, 'info' | 'warn'>;
}

interface Seated {
  readonly log: string;
  /** The state is not what the log says: it is given up at the next start. */
  readonly isDifferent: boolean;
}

/** The place of a node at a cluster log, before anything of its state is opened. */
export class Seat {
  private constructor(
    private readonly parts: SeatParts,
    readonly identity: string,
    /** True if the log is empty: it begins with the state of this node. */
    readonly isFounder: boolean,
  ) {}

  /**
   * Waits for the log, and sees to it that the state of this node is one that its entries can go on
   * from: the node's own, that of the newest snapshot, or none. What the log does not know is put
   * aside and told. Rejects with LOG_DIFFERENT where the node has followed another log.
   * @param isAnew the node's own state is too old for the entries that there are
   */
  static async take(parts: SeatParts, isAnew = false): Promise<Seat> {
    const bounds = await reached(parts);
    const seated = await read(parts);
    if (seated !== undefined) checkSame(parts, seated, bounds);
    const own = seated !== undefined && !seated.isDifferent && !isAnew;
    const identity = bounds.identity || (await parts.log.begin(randomUUID()));
    const isFounder = !(await hasEntries(parts.log, bounds));
    const isSeated = seated !== undefined;
    if (!own && !isFounder) await untilThere(parts, () => joined(parts, bounds, isSeated));
    const seat = new Seat(parts, identity, isFounder);
    if (!own) await seat.write({ log: identity, isDifferent: false });
    return seat;
  }

  /** At its next start the node begins with the state that the log says. */
  giveUp(): Promise<void> {
    return this.write({ log: this.identity, isDifferent: true });
  }

  /** Users that a snapshot says are erased, and that the node's disks may still have. */
  async erasedBefore(): Promise<readonly ErasedUser[]> {
    const bytes = await readInto(this.parts, ERASE_FILE);
    return bytes === undefined ? [] : (JSON.parse(bytes.toString()) as ErasedUser[]);
  }

  /** They are erased here. */
  async haveErased(): Promise<void> {
    await rm(join(this.parts.folders[0].path, ERASE_FILE), { force: true });
  }

  private write(seated: Seated): Promise<void> {
    return writeInto(this.parts, SEAT_FILE, seated);
  }
}

async function writeInto({ folders }: SeatParts, name: string, content: unknown): Promise<void> {
  const [{ path }] = folders;
  await mkdir(path, { recursive: true });
  await replaceFile(FILE_SYSTEM, join(path, name), `${JSON.stringify(content)}\n`, name);
}

/** Undefined: there is no such file. */
function readInto({ folders }: SeatParts, name: string): Promise<Buffer | undefined> {
  const path = join(folders[0].path, name);
  return readRegular(path, FILE_BYTES_MAX).catch(() => undefined);
}

async function read(parts: SeatParts): Promise<Seated | undefined> {
  const path = join(parts.folders[0].path, SEAT_FILE);
  const bytes = await readInto(parts, SEAT_FILE);
  if (bytes === undefined) return undefined;
  try {
    const { log, isDifferent } = JSON.parse(bytes.toString()) as Seated;
    if (typeof log === 'string') return { log, isDifferent: isDifferent === true };
  } catch {
    // As a file of another program.
  }
  throw new TesseraError(
    'STORE_CORRUPT',
    `${path}: expected which log is followed, got other text`,
  );
}

/** The identity of the log, once somebody has begun it. */
export async function untilBegun(
  log: ClusterLog,
  nodeLog: Pick<Log, 'info' | 'warn'>,
): Promise<string> {
  for (;;) {
    const { identity } = await reached({ log, nodeLog });
    if (identity !== '') return identity;
    await sleep(RETRY_MS);
  }
}

function reached(parts: Pick<SeatParts, 'log' | 'nodeLog'>): Promise<LogBounds> {
  return untilThere(parts, () => parts.log.bounds());
}

/** Nothing of this node is open yet: it waits for the log and its store. */
async function untilThere<T>(
  { nodeLog }: Pick<SeatParts, 'nodeLog'>,
  act: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await act();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code !== 'STORE_UNAVAILABLE') throw error;
      if (attempt === 0) nodeLog.warn({ err: error }, 'waiting for the cluster log');
      await sleep(RETRY_MS);
    }
  }
}

/** @throws TesseraError LOG_DIFFERENT naming the choices */
function checkSame({ log, folders }: SeatParts, seated: Seated, { identity }: LogBounds): void {
  if (identity === seated.log) return;
  const got = identity === '' ? 'a log that nobody has begun' : `log ${identity}`;
  const path = join(folders[0].path, SEAT_FILE);
  const message =
    `${log.place}: expected log ${seated.log}, which this node follows, got ${got}: restore that ` +
    `log, name the right one (cluster.log, cluster.name), or remove ${path}: the node then takes ` +
    'what this log says, or begins it with what it has where it is empty';
  throw new TesseraError('LOG_DIFFERENT', message);
}

async function hasEntries(log: ClusterLog, { first, end }: LogBounds): Promise<boolean> {
  if (end === NO_OFFSET) return false;
  for await (const _ of entriesOf(log, first, end)) return true;
  return false;
}

/** The state of the newest snapshot, or none where all entries are there. */
async function joined(parts: SeatParts, bounds: LogBounds, isSeated: boolean): Promise<void> {
  const { store, folders, nodeLog } = parts;
  const manifest = await newestSnapshot(parts, bounds);
  if (manifest === undefined && bounds.first > NO_OFFSET + 1) {
    const message = `${parts.log.place}: expected a snapshot, or entries from 1 on`;
    throw new TesseraError('LOG_TRIMMED', `${message}, got entries from ${bounds.first} on`);
  }
  // Rests of a join that was broken off belong to no state.
  const isBroken = !isSeated && (await readInto(parts, ERASE_FILE)) !== undefined;
  if (isBroken) await removeState(folders);
  const aside = await putAside(folders);
  if (aside.length > 0) nodeLog.warn({ aside }, 'state put aside: it does not follow the log');
  if (manifest === undefined) return;
  await placeState(store, folders, manifest);
  await writeInto(parts, ERASE_FILE, manifest.erased);
  nodeLog.info({ offset: manifest.offset }, 'state taken from a snapshot of the cluster log');
}

/** Kinds of entries that name a snapshot. */
export const BEGINS = 'begins';
export const SNAPSHOT = 'snapshot';

/** Users to erase before the entries from `offset` on, by the log's newest snapshot. */
interface ErasedBefore {
  readonly offset: number;
  readonly erased: readonly ErasedUser[];
}

/** For who follows the log for its erasures alone. Undefined: the log names no snapshot. */
export async function erasedBefore(
  log: ClusterLog,
  store: EntryStore,
  nodeLog: SeatParts['nodeLog'],
): Promise<ErasedBefore | undefined> {
  return newestSnapshot({ log, store, nodeLog }, await log.bounds());
}

/** Of those that the log names the newest that is there: without one all entries have to be. */
async function newestSnapshot(
  { log, store, nodeLog }: Pick<SeatParts, 'log' | 'store' | 'nodeLog'>,
  { first, end }: LogBounds,
): Promise<Manifest | undefined> {
  const names: string[] = [];
  let hasBegun = false;
  for await (const { kind, text } of entriesOf(log, first, end)) {
    // Of several founders the first counts: the others' entries are repeated ones.
    if (kind === SNAPSHOT || (kind === BEGINS && !hasBegun)) names.push(snapshotOf(text));
    hasBegun ||= kind === BEGINS;
  }
  for (const name of names.filter(Boolean).reverse()) {
    try {
      return parsedManifest(name, await store.get(name));
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code !== 'STORE_CORRUPT' && error.code !== 'REQUEST_INVALID') throw error;
      nodeLog.warn({ err: error }, 'a snapshot that the cluster log names cannot be used');
    }
  }
  return undefined;
}

/** '' where the entry names none. */
function snapshotOf(text: string): string {
  try {
    const { snapshot } = bodyOf(text) as { readonly snapshot?: unknown };
    return typeof snapshot === 'string' ? snapshot : '';
  } catch {
    return '';
  }
}

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
