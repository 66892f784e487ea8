import type { Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  bodyOf,
  type ClusterLog,
  type EntryStore,
  NO_OFFSET,
  type SeenPosition,
} from '@tessera/log';
import type { Log } from '@tessera/telemetry';
import { Limit } from '@tessera/turns';
import { ERASE } from './domain/erasure.js';
import {
  type ErasedUser,
  erasedUserOf,
  fileName,
  filesOf,
  type Manifest,
  manifestName,
  manifestsOf,
  manifestText,
  parsedManifest,
} from './domain/manifest.js';
import type { StateFiles } from './domain/state-files.js';
import { entriesOf, type PlacedEntry } from './entries-of.js';
import type { Follower } from './follower.js';
import { hasSnapshot, SNAPSHOT } from './snapshots-there.js';
import type { Submissions } from './submissions.js';
import type { Running, Work } from './work.js';

export interface SnapshotParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly node: string;
  readonly files: StateFiles;
  readonly follower: Follower;
  readonly submissions: Submissions;
  readonly work: Work;
  /** Told whether snapshots can be made here, for the others. */
  readonly onAble: (canSnapshot: boolean) => void;
  /** False: data of users may be out of date, and so may what is said of them. */
  readonly isCurrent: () => boolean;
  /** Makes the files of the state small, and nobody write them, until the next entry. */
  readonly compact: () => Promise<void>;
  readonly settle: () => Promise<void>;
  /** Entries behind the newest snapshot from which on another is made. */
  readonly everyEntries: number;
  /** Milliseconds for which users that were erased are named. */
  readonly keepMs: number;
  readonly leaseMs: number;
  /** Offset of the newest snapshot that the log names. */
  readonly newestOffset: () => number;
  readonly sharedFiles: SharedFiles;
  readonly nodeLog: Pick<Log, 'info' | 'warn'>;
}

/** Files in the store that nodes fetch for an entry: those that none needs are given up. */
export interface SharedFiles {
  readonly folder: string;
  isUsed(name: string): boolean;
  isNamed(entry: PlacedEntry, name: string): boolean;
}

interface Named {
  readonly name: string;
  readonly manifest: Manifest;
}

const LOOK_MS = 5000;
/** Milliseconds of one attempt after which others may make one too: a store may hang. */
const SLOW_MS = 60_000;
/** Snapshots that a node can begin with: where one is damaged, there is the one before. */
const SNAPSHOTS_KEPT = 2;
/** Multiple of the interval between snapshots after which any node may make one. */
const LATE = 2;

/** Makes snapshots of the state for nodes that come later, and lets the entries before them go. */
export class Snapshots {
  private looks: Running | undefined;
  /** Shared files that no entry named when it was looked last. */
  private unnamed: ReadonlySet<string> = new Set();

  constructor(private readonly parts: SnapshotParts) {}

  start(): void {
    this.looks = this.parts.work.begin({
      name: 'a snapshot',
      everyMs: LOOK_MS,
      run: () => this.makeWhereDue(),
      // The next node by name makes one meanwhile.
      onFailed: () => {
        this.parts.onAble(false);
        return false;
      },
    });
  }

  close(): Promise<void> {
    return this.parts.work.end(this.looks);
  }

  /** Resolves with the name of the snapshot: in the store, and not in the log yet. */
  async put(): Promise<{ readonly name: string; readonly offset: number }> {
    const { store, files, follower, compact, settle } = this.parts;
    await compact();
    const position = await follower.between(async (at) => {
      await settle();
      await files.copy();
      return at;
    });
    try {
      const uploaded = await files.upload(store, position.log);
      const name = manifestName(position);
      const manifest = await this.manifestOf(position, uploaded);
      await store.put(name, Buffer.from(manifestText(manifest)));
      return { name, offset: position.offset };
    } finally {
      await files.dropCopy();
    }
  }

  /** The node with the smallest name among those with the full state that can makes snapshots. */
  private async makeWhereDue(): Promise<undefined> {
    const { log, isCurrent, submissions, leaseMs, nodeLog, onAble } = this.parts;
    if (!isCurrent()) return;
    const said = (await log.positions()).filter(({ ageMs }) => ageMs < leaseMs);
    if (!this.isOwn(said)) return;
    const wanted = said.filter(({ standing }) => standing === 'wants-snapshot');
    if (!(await this.isDue(wanted.map(({ offset }) => offset)))) return;
    const { name, offset } = await this.putInTime();
    const body = { snapshot: name, offset };
    await submissions.submit({ kind: SNAPSHOT, body }, { key: name, waitFor: 'applied-here' });
    onAble(true);
    await this.clean();
    nodeLog.info({ offset }, 'snapshot of the cluster log made');
  }

  /** Calls `put`; while that takes too long this node counts as one that makes none. */
  private async putInTime(): ReturnType<Snapshots['put']> {
    const { work, onAble } = this.parts;
    const slow = new Limit(work.clock, SLOW_MS);
    slow.signal.addEventListener('abort', () => onAble(false), { once: true });
    try {
      return await this.put();
    } finally {
      slow.end();
    }
  }

  /** It is this node's turn. */
  private isOwn(said: readonly SeenPosition[]): boolean {
    const { node, follower, newestOffset, everyEntries } = this.parts;
    if (follower.offset - newestOffset() >= LATE * everyEntries) return true;
    const isAble = ({ digest, standing, canSnapshot }: SeenPosition) =>
      digest !== '' && standing === 'serving' && canSnapshot;
    return !said.some((one) => one.node < node && isAble(one));
  }

  /** @param wanted offsets that nodes cannot go on from */
  private async isDue(wanted: readonly number[]): Promise<boolean> {
    const { log, store, follower, everyEntries, newestOffset, nodeLog } = this.parts;
    const newest = newestOffset();
    if (follower.offset - newest >= everyEntries) return true;
    if (follower.offset <= newest) return false;
    // Entries that are gone are in a snapshot, or no node can begin.
    const bounds = await log.bounds();
    if (bounds.first > Math.max(newest, NO_OFFSET) + 1) return true;
    const missed = wanted.map((offset) => offset + 1).filter((next) => next <= follower.offset);
    if (missed.length === 0) return false;
    // The one that the log names may have been lost since.
    return !(await hasSnapshot({ log, store, nodeLog }, bounds, Math.max(...missed)));
  }

  private async manifestOf(
    { log: identity, offset, chain }: Position,
    files: Manifest['files'],
  ): Promise<Omit<Manifest, 'format'>> {
    const { keepMs } = this.parts;
    const { erased, atMs } = await this.erasedUpTo(offset);
    // By the clock of the log: that of this node may be anywhere.
    const kept = erased.filter((user) => user.atMs >= atMs - keepMs);
    return { log: identity, offset, chain, atMs, files, erased: kept };
  }

  private async erasedUpTo(offset: number): Promise<{ erased: ErasedUser[]; atMs: number }> {
    const { log } = this.parts;
    const [before] = await this.manifests();
    const erased = [...(before?.manifest.erased ?? [])];
    let atMs = before?.manifest.atMs ?? 0;
    const from = Math.max((before?.manifest.offset ?? 0) + 1, (await log.bounds()).first);
    for await (const entry of entriesOf(log, from, offset)) {
      atMs = Math.max(atMs, entry.atMs);
      if (entry.kind !== ERASE) continue;
      const user = erasedUserOf(bodyIn(entry), entry.offset, entry.atMs);
      if (user !== undefined) erased.push(user);
    }
    return { erased, atMs };
  }

  /** Manifests that can be read, newest first. */
  private async manifests(): Promise<Named[]> {
    const { store, follower, nodeLog } = this.parts;
    const names = await store.list(manifestsOf(follower.parts.history.position.log));
    const found: Named[] = [];
    for (const name of [...names].sort().reverse()) {
      try {
        found.push({ name, manifest: parsedManifest(name, await store.get(name)) });
      } catch (thrown) {
        if (TesseraError.from(thrown).code !== 'STORE_CORRUPT') throw thrown;
        nodeLog.warn({ err: thrown }, 'a damaged snapshot is passed over and removed');
        await store.remove(name);
      }
    }
    return found;
  }

  /** Removes all that no node needs which begins with one of the snapshots that are kept. */
  private async clean(): Promise<void> {
    const { log, store, follower } = this.parts;
    const { keysKept, position } = follower.parts.history;
    const { log: identity } = position;
    const all = await this.manifests();
    const kept = all.slice(0, SNAPSHOTS_KEPT).map(({ manifest }) => manifest);
    const [newest, oldest] = [kept[0], kept.at(-1)];
    if (newest === undefined || oldest === undefined) return;
    await this.trim(Math.min(newest.offset - keysKept, oldest.offset + 1));
    for (const { name } of all.slice(SNAPSHOTS_KEPT)) await store.remove(name);
    const files = kept.flatMap((manifest) => manifest.files);
    const names = new Set(files.map(({ sha256 }) => fileName(identity, sha256)));
    for (const name of await store.list(filesOf(identity))) {
      if (!names.has(name)) await store.remove(name);
    }
    await this.cleanShared((await log.bounds()).first);
  }

  /** Entries first: a body without its entry is waste, an entry without its body stops nodes. */
  private async trim(before: number): Promise<void> {
    const { log, store } = this.parts;
    const { first } = await log.bounds();
    if (before <= first) return;
    const bodies: string[] = [];
    for await (const { stored } of entriesOf(log, first, before - 1)) {
      if (stored !== '') bodies.push(stored);
    }
    await log.trim(before);
    for (const name of bodies) await store.remove(name);
  }

  /** Removed where two looks in a row find that no entry names them: one may be on its way. */
  private async cleanShared(first: number): Promise<void> {
    const { log, store, sharedFiles } = this.parts;
    const names = new Set(await store.list(sharedFiles.folder));
    for (const name of names) if (sharedFiles.isUsed(name)) names.delete(name);
    for await (const entry of entriesOf(log, first, (await log.bounds()).end)) {
      for (const name of names) if (sharedFiles.isNamed(entry, name)) names.delete(name);
    }
    for (const name of names) if (this.unnamed.has(name)) await store.remove(name);
    this.unnamed = names;
  }
}

/** Undefined where it is none: the entry was refused. */
function bodyIn({ text }: PlacedEntry): unknown {
  try {
    return bodyOf(text);
  } catch {
    return undefined;
  }
}
