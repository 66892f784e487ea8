import { randomUUID } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { type EntryStore, type LogBounds, NO_OFFSET } from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { CONTINUE } from './domain/history.js';
import type { Life } from './domain/life.js';
import type { ErasedUser, Manifest } from './domain/manifest.js';
import type { Placing, StateFiles } from './domain/state-files.js';
import { entriesOf } from './entries-of.js';
import { fetchedSnapshot } from './snapshots-there.js';
import type { WatchedLog } from './watched-log.js';
import type { Work } from './work.js';

/** Milliseconds between two looks whether somebody has begun the log. */
const LOOK_MS = 500;
/** Names this process while it has yet to follow the log. */
const JOINING = randomUUID();

export interface StandingParts {
  readonly log: WatchedLog;
  readonly store: EntryStore;
  readonly node: string;
  /** The notes among them say which log the state follows. */
  readonly files: StateFiles;
  readonly life: Life;
  readonly work: Work;
  readonly nodeLog: Pick<Log, 'info' | 'warn'>;
}

interface Followed {
  readonly log: string;
  /** The state is not what the log says: it is given up at the next start. */
  readonly isDifferent: boolean;
}

/** Conditions on the state that a node begins with. */
export interface Wanted {
  /** The node's own state does not do. */
  readonly isAnew: boolean;
  /** That state is a snapshot's, of this start: nobody wants it again. */
  readonly isFetched?: boolean;
  /** Every entry up to it. */
  readonly offset: number;
}

/**
 * Which log the state of a node follows, before anything of the state is opened. Each step may be
 * repeated: a state is fetched as a whole, then noted, then moved in by steps that see for
 * themselves what is done.
 */
export class Standing {
  private constructor(
    private readonly parts: StandingParts,
    readonly identity: string,
    /** True if the log is empty, and begins with the state of this node. */
    readonly isFounder: boolean,
    /** The state is that of a snapshot, or none. */
    readonly hasFetched: boolean,
  ) {}

  /**
   * Waits for the log, and gives the node a state that entries can go on from: its own, that of a
   * snapshot, or none. A state that the log does not know is put aside, and the log of the process
   * says where. Rejects with LOG_DIFFERENT where the node has followed another log, or this one has
   * lost entries.
   */
  static async take(parts: StandingParts, wanted: Wanted): Promise<Standing> {
    const { life, log } = parts;
    await finishPlacing(parts);
    const followed = await read(parts);
    for (;;) {
      life.to('away');
      const bounds = await untilThere(parts, async () => {
        await log.hear();
        return followed === undefined ? log.bounds() : checkedBounds(parts, followed);
      });
      const hasEntries = await untilThere(parts, () => hasAny(log));
      const isFounder = !hasEntries && (bounds.anew?.founder ?? parts.node) === parts.node;
      if (hasEntries || isFounder) return Standing.at(parts, wanted, followed, bounds, isFounder);
      // Another node is to begin it.
      await parts.work.clock.pause(LOOK_MS);
    }
  }

  private static async at(
    parts: StandingParts,
    wanted: Wanted,
    followed: Followed | undefined,
    bounds: LogBounds,
    isFounder: boolean,
  ): Promise<Standing> {
    const { log } = parts;
    const identity = bounds.identity || (await untilThere(parts, () => log.begin(randomUUID())));
    const isOwn = followed?.log === identity && !followed.isDifferent && !wanted.isAnew;
    const hasFetched = !isOwn && !isFounder;
    if (hasFetched) await untilThere(parts, () => fetched(parts, wanted));
    const standing = new Standing(parts, identity, isFounder, hasFetched);
    if (!isOwn) await standing.write({ log: identity, isDifferent: false });
    return standing;
  }

  /** At its next start the node begins with the state that the log says. */
  giveUp(): Promise<void> {
    return this.write({ log: this.identity, isDifferent: true });
  }

  /** Users that a snapshot says are erased, and that the node's disks may still have. */
  async erasedBefore(): Promise<readonly ErasedUser[]> {
    const bytes = await this.parts.files.read('erase');
    return bytes === undefined ? [] : (JSON.parse(Buffer.from(bytes).toString()) as ErasedUser[]);
  }

  /** They are erased here: their names go from the bytes. */
  haveErased(): Promise<void> {
    return this.parts.files.wipe('erase');
  }

  private write(followed: Followed): Promise<void> {
    return this.parts.files.write('standing', followed);
  }
}

async function read({ files }: Pick<StandingParts, 'files'>): Promise<Followed | undefined> {
  const bytes = await files.read('standing');
  if (bytes === undefined) return undefined;
  try {
    const { log, isDifferent } = JSON.parse(Buffer.from(bytes).toString()) as Followed;
    if (typeof log === 'string') return { log, isDifferent: isDifferent === true };
  } catch {
    // As a file of another program.
  }
  const message = `${files.placeOf('standing')}: expected which log is followed, got other text`;
  throw new TesseraError('STORE_CORRUPT', message);
}

/**
 * Which state a node begins with behind a failed attempt; undefined: no other one would help.
 * @param before.applied the last entry of the state that failed
 */
export function wantedBehind(
  code: string,
  {
    wanted,
    hasFetched: isFetched,
    applied,
  }: Pick<Standing, 'hasFetched'> & {
    readonly wanted: Wanted;
    readonly applied: number;
  },
): Wanted | undefined {
  // Any snapshot may do, the first time that entries are gone; then one with the next entry.
  if (code === 'LOG_TRIMMED') {
    return { isAnew: true, isFetched, offset: wanted.isAnew ? applied + 1 : NO_OFFSET };
  }
  // A snapshot from which a state differs is too old.
  if (code === 'STATE_DIFFERENT') {
    return { isAnew: true, isFetched, offset: isFetched ? applied : NO_OFFSET };
  }
  return undefined;
}

/** The identity of the log, once somebody has begun it. */
export async function untilBegun({
  log,
  work,
}: Pick<StandingParts, 'log' | 'work'>): Promise<string> {
  for (;;) {
    const { identity } = await untilThere({ work }, async () => {
      await log.hear();
      return log.bounds();
    });
    if (identity !== '') return identity;
    await work.clock.pause(LOOK_MS);
  }
}

/**
 * Nothing of this node is open yet: it waits for the log and its store. Entries that are gone when
 * they are read went since `act` read the bounds: it reads them again.
 */
export function untilThere<T>({ work }: Pick<StandingParts, 'work'>, act: () => Promise<T>) {
  let before = '';
  return work.until(act, {
    name: 'the start of this node',
    mayPass: ({ code, message }) => {
      // A hole that stays has the same bounds again.
      const isOther = code === 'LOG_TRIMMED' && message !== before;
      before = message;
      return code === 'STORE_UNAVAILABLE' || isOther;
    },
  });
}

/** Bounds of the log that is followed. @throws TesseraError LOG_DIFFERENT naming the choices */
async function checkedBounds(
  { log, files }: StandingParts,
  followed: Followed,
): Promise<LogBounds> {
  const bounds = await log.bounds();
  const { identity, anew } = bounds;
  if (identity === followed.log || anew?.continues.includes(followed.log)) return bounds;
  const got = identity === '' ? 'a log that nobody has begun' : `log ${identity}`;
  const path = files.placeOf('standing');
  const message =
    `${log.place}: expected log ${followed.log}, which this node follows, got ${got}. ` +
    `Restore it, name the right one (cluster.etcd, cluster.name), or ` +
    `go on with the state of a node by: ` +
    `${CONTINUE}; to take what this log says instead, remove ${path}`;
  throw new TesseraError('LOG_DIFFERENT', message);
}

async function hasAny(log: WatchedLog): Promise<boolean> {
  const { first, end } = await log.bounds();
  if (end === NO_OFFSET) return false;
  for await (const _ of entriesOf(log, first, end)) return true;
  return first > NO_OFFSET + 1;
}

/** The state of the newest snapshot that is whole, or none where all entries are there. */
async function fetched(parts: StandingParts, wanted: Wanted): Promise<void> {
  const { offset } = wanted;
  const { log, store, files, life, nodeLog } = parts;
  life.to('fetching');
  const bounds = await log.bounds();
  const manifest = await fetchedSnapshot({ log, store, files, nodeLog }, bounds, offset);
  if (manifest === undefined) await refuseHole(parts, bounds, offset);
  if (manifest === undefined) await files.fetchNothing();
  await note(parts, manifest, wanted);
  await finishPlacing(parts);
}

/** Rejects where a snapshot is needed, and may be made: the others are told that it is wanted. */
async function refuseHole(
  { log, node, nodeLog }: StandingParts,
  { first, end }: LogBounds,
  offset: number,
): Promise<void> {
  if (first === NO_OFFSET + 1 && offset === NO_OFFSET) return;
  // Every snapshot that the log names is older, or cannot be used.
  const { identity } = await log.bounds();
  const place = { node, process: JOINING, log: identity, offset: end - 1, chain: '', digest: '' };
  const nothing = {
    erased: end,
    open: [],
    standing: 'wants-snapshot',
    canSnapshot: false,
  } as const;
  await log.say(Object.assign(place, nothing)).catch((thrown: unknown) => {
    nodeLog.warn({ err: thrown }, 'cannot ask for a snapshot');
  });
  const got = `entries from ${first} on and none`;
  const message = `${log.place}: expected a snapshot with entry ${Math.max(first - 1, offset)}`;
  throw new TesseraError('STORE_UNAVAILABLE', `${message}, got ${got}: waiting for a node's`);
}

/** Notes that the fetched state is now the node's own. */
async function note(
  parts: StandingParts,
  manifest: Manifest | undefined,
  { isFetched = false }: Wanted,
): Promise<void> {
  const placing: Placing = {
    aside: isFetched ? '' : new Date().toISOString().replaceAll(':', '-'),
    files: manifest?.files ?? [],
    erased: manifest?.erased ?? [],
    offset: manifest?.offset ?? NO_OFFSET,
  };
  await parts.files.write('placing', placing);
}

/** Moves in what was fetched, if anything was, also by an earlier process. */
async function finishPlacing({ files, nodeLog }: StandingParts): Promise<void> {
  const bytes = await files.read('placing');
  if (bytes === undefined) return;
  const placing = JSON.parse(Buffer.from(bytes).toString()) as Placing;
  const aside = await files.place(placing);
  if (aside.length > 0) nodeLog.warn({ aside }, 'state put aside: it does not follow the log');
  if (placing.erased.length > 0) await files.write('erase', placing.erased);
  await files.wipe('placing');
  const { offset } = placing;
  if (offset > NO_OFFSET)
    nodeLog.info({ offset }, 'state taken from a snapshot of the cluster log');
}
