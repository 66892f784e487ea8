import { rm } from 'node:fs/promises';
import type { Position } from '@tessera/contracts';
import type { Log } from '@tessera/telemetry';
import type { ClusterLog } from './domain/cluster-log.js';
import { bodyOf } from './domain/entries.js';
import type { EntryStore } from './domain/entry-store.js';
import { ERASE } from './domain/erasure.js';
import { KEYS_KEPT } from './domain/key-window.js';
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
import type { StateFolder } from './domain/state-folder.js';
import type { Follower } from './follower.js';
import { entriesOf, SNAPSHOT } from './seat.js';
import { copyState, uploadState } from './state-files.js';
import type { Submissions } from './submissions.js';

export interface SnapshotParts {
  readonly log: ClusterLog;
  readonly store: EntryStore;
  readonly node: string;
  readonly folders: readonly StateFolder[];
  readonly follower: Follower;
  readonly submissions: Submissions;
  /** Makes the files of the state small, and nobody write them, until the next entry. */
  readonly compact: () => Promise<void>;
  readonly settle: () => Promise<void>;
  /** Where the files are copied to. */
  readonly scratch: string;
  /** Entries behind the newest snapshot from which on another is made. */
  readonly everyEntries: number;
  /** Milliseconds for which users that were erased are named. */
  readonly keepMs: number;
  readonly leaseMs: number;
  /** Offset of the newest snapshot that the log names. */
  readonly newestOffset: () => number;
  readonly nodeLog: Pick<Log, 'info' | 'warn'>;
}

const LOOK_MS = 5000;
/** Snapshots whose files stay: a node may be reading the one before. */
const SNAPSHOTS_KEPT = 2;

/** Makes snapshots of the state for nodes that come later, and lets the entries before them go. */
export class Snapshots {
  private timer: NodeJS.Timeout | undefined;
  private making: Promise<unknown> | undefined;

  constructor(private readonly parts: SnapshotParts) {}

  start(): void {
    this.timer = setInterval(() => {
      this.making ??= this.makeWhereDue()
        .catch((thrown: unknown) => this.parts.nodeLog.warn({ err: thrown }, 'no snapshot made'))
        .finally(() => {
          this.making = undefined;
        });
    }, LOOK_MS);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.making;
  }

  /** Resolves with the name of the snapshot: in the store, and not in the log yet. */
  async put(): Promise<{ readonly name: string; readonly offset: number }> {
    const { store, folders, follower, scratch, compact, settle } = this.parts;
    await compact();
    const position = await follower.between(async (at) => {
      await settle();
      await copyState(folders, scratch);
      return at;
    });
    try {
      const files = await uploadState(store, folders, scratch, position.log);
      const name = manifestName(position);
      const manifest = await this.manifestOf(position, files);
      await store.put(name, Buffer.from(manifestText(manifest)));
      return { name, offset: position.offset };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  /** Of all that have a whole state the one that is first by its name makes them. */
  private async makeWhereDue(): Promise<void> {
    const { log, node, follower, submissions, everyEntries, leaseMs, nodeLog } = this.parts;
    const { newestOffset } = this.parts;
    if (!follower.isCurrent || follower.offset - newestOffset() < everyEntries) return;
    const serving = (await log.positions()).filter(({ ageMs }) => ageMs < leaseMs);
    if (serving.some((one) => one.digest !== '' && one.node < node)) return;
    const { name, offset } = await this.put();
    const body = { snapshot: name, offset };
    await submissions.submit({ kind: SNAPSHOT, body }, { key: name, waitFor: 'applied-here' });
    await this.clean(offset - KEYS_KEPT);
    nodeLog.info({ offset }, 'snapshot of the cluster log made');
  }

  private async manifestOf(
    { log: identity, offset }: Position,
    files: Manifest['files'],
  ): Promise<Omit<Manifest, 'format'>> {
    const { keepMs } = this.parts;
    const atMs = Date.now();
    const erased = (await this.erasedUpTo(offset)).filter((user) => user.atMs >= atMs - keepMs);
    return { log: identity, offset, atMs, files, erased };
  }

  private async erasedUpTo(offset: number): Promise<ErasedUser[]> {
    const before = await this.newest();
    const erased = [...(before?.erased ?? [])];
    const from = Math.max((before?.offset ?? 0) + 1, (await this.parts.log.bounds()).first);
    if (from > offset) return erased;
    for await (const entry of entriesOf(this.parts.log, from, offset)) {
      if (entry.kind !== ERASE) continue;
      const user = erasedUserOf(bodyOf(entry.text), entry.offset, entry.atMs);
      if (user !== undefined) erased.push(user);
    }
    return erased;
  }

  private async newest(): Promise<Manifest | undefined> {
    const { store, follower } = this.parts;
    const name = [...(await store.list(manifestsOf(follower.identity)))].sort().at(-1);
    return name === undefined ? undefined : parsedManifest(name, await store.get(name));
  }

  /** Entries before an offset go, with what they keep in the store, and old snapshots. */
  private async clean(before: number): Promise<void> {
    const { log, store, follower } = this.parts;
    const { identity } = follower;
    const { first } = await log.bounds();
    if (before > first) {
      for await (const { stored } of entriesOf(log, first, before - 1)) {
        if (stored !== '') await store.remove(stored);
      }
      await log.trim(before);
    }
    const names = [...(await store.list(manifestsOf(identity)))].sort();
    const kept = new Set<string>();
    for (const name of names.slice(-SNAPSHOTS_KEPT)) {
      for (const { sha256 } of parsedManifest(name, await store.get(name)).files) {
        kept.add(fileName(identity, sha256));
      }
    }
    for (const name of names.slice(0, -SNAPSHOTS_KEPT)) await store.remove(name);
    for (const name of await store.list(filesOf(identity))) {
      if (!kept.has(name)) await store.remove(name);
    }
  }
}
