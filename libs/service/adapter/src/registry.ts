import { TesseraError } from '@tessera/errors';
import { type Disk, diskError, FILE_SYSTEM } from '@tessera/files';
import {
  type AdapterChoice,
  type AdapterLease,
  type Arm,
  BASE_LEASE,
} from './domain/adapter-choice.js';
import type { AdapterVersion, ListedVersion } from './domain/adapter-version.js';
import { BASE, checkName, isDigest } from './domain/adapter-version.js';
import { placeOf } from './domain/canary-share.js';
import { leaseEndMs } from './domain/name-lease.js';
import {
  bounded,
  diskBytes,
  EMPTY_STATE,
  inState,
  leavingOrder,
  predecessorOf,
  type RegistryState,
  remove,
  staysLoaded,
  versionOf,
} from './domain/registry-state.js';
import { Reservations } from './domain/reservations.js';
import { ofBase, shownWaiting, waitingOf, waitsForBase } from './domain/waiting-versions.js';
import { type Held, LoadedAdapters } from './loaded-adapters.js';
import { type DiskCondition, DiskReserve } from './outside/disk-reserve.js';
import { lockFolder } from './outside/folder-lock.js';
import { RegistryFile } from './outside/registry-file.js';
import { type StagedVersion, VersionFolders } from './outside/version-folders.js';
import { type Recovered, recovered } from './recovery.js';
import type { RegistryParts } from './registry-parts.js';

/** The versions that serve the requests for a name. */
interface Serving {
  readonly canary: AdapterVersion | undefined;
  readonly active: AdapterVersion | undefined;
}

/**
 * The versions of adapters: what is on disk, what of it is loaded, and which one a request gets.
 * Every change of it is on disk before it is seen or answered.
 */
export class AdapterRegistry implements AdapterChoice {
  readonly folders: VersionFolders;
  readonly loaded: LoadedAdapters;
  readonly nowMs: () => number;
  private readonly disk: Disk;
  private readonly file: RegistryFile;
  private readonly space: DiskReserve;
  private current: RegistryState = EMPTY_STATE;
  /** Versions of other base models; part of what is kept, and of no change. */
  private waiting: readonly AdapterVersion[] = [];
  private serving: ReadonlyMap<string, Serving> = new Map();
  private changing: Promise<unknown> = Promise.resolve();
  readonly reservations = new Reservations();
  private unlock: () => void = () => undefined;

  private constructor(readonly parts: RegistryParts) {
    const { folder, disk = FILE_SYSTEM, engine, limits, nowMs = Date.now } = parts;
    this.disk = disk;
    this.nowMs = nowMs;
    this.file = new RegistryFile(folder, disk);
    this.space = new DiskReserve(disk, folder, parts.reserveBytes ?? 0);
    this.folders = new VersionFolders(folder, disk);
    this.loaded = new LoadedAdapters(
      engine,
      this.folders,
      { rankMax: limits.rankMax, normMax: limits.normMax },
      parts.tokenizer,
      (digest) => this.isWanted(digest),
      () => this.expendable(),
    );
  }

  /**
   * Finds what was acknowledged, takes away what was not, and loads what serves. A version that
   * serves and cannot be loaded gives its place to the one before it. Rejects with STORE_INVALID,
   * ADAPTER_CORRUPT, ADAPTER_ARENA_FULL, STORE_FULL or IO_FAILED.
   */
  static async open(parts: RegistryParts): Promise<AdapterRegistry> {
    checkName(parts.defaultName);
    const registry = new AdapterRegistry(parts);
    try {
      await registry.disk.makeFolder(parts.folder);
      registry.unlock = lockFolder(parts.folder, 'adapters.path');
      await registry.recover();
      return registry;
    } catch (thrown) {
      await registry.close();
      throw diskError(thrown, `adapters.path: ${parts.folder}`);
    }
  }

  get state(): RegistryState {
    return this.current;
  }

  get defaultName(): string {
    return this.parts.defaultName;
  }

  choose(wanted: string, userKey: string): AdapterLease {
    if (wanted === BASE) return BASE_LEASE;
    if (isDigest(wanted)) return this.leaseOf(this.byDigest(wanted), 'named', '');
    const name = wanted === '' ? this.parts.defaultName : wanted;
    const serving = this.serving.get(name);
    if (serving === undefined) return this.nothingServes(wanted);
    const { canary, active } = serving;
    if (canary !== undefined && placeOf(name, userKey) < canary.share) {
      return this.leaseOf(canary, 'canary', name);
    }
    if (active === undefined) return { ...BASE_LEASE, name };
    return this.leaseOf(active, 'active', name);
  }

  /** @throws TesseraError ADAPTER_NOT_FOUND, ADAPTER_INVALID */
  find(name: string, digest: string): AdapterVersion {
    const waits = this.findWaiting(name, digest);
    if (waits !== undefined) throw waitsForBase(waits, this.parts.engine.model.digest);
    return versionOf(this.current, name, digest);
  }

  /** Version of another base model; undefined where the served model has that name and digest. */
  findWaiting(name: string, digest: string): AdapterVersion | undefined {
    return waitingOf(this.current, this.waiting, name, digest);
  }

  /** Forgets one that waits, and its files. */
  async removeWaiting(version: AdapterVersion): Promise<void> {
    try {
      await this.change((state) => {
        this.waiting = this.waiting.filter((other) => other !== version);
        return { ...state };
      });
    } catch (thrown) {
      this.waiting = [...this.waiting, version];
      throw thrown;
    }
  }

  active(name: string): AdapterVersion | undefined {
    return this.serving.get(name)?.active;
  }

  canary(name: string): AdapterVersion | undefined {
    return this.serving.get(name)?.canary;
  }

  /** Names that a canary serves. */
  canaries(): readonly AdapterVersion[] {
    return [...this.serving.values()].flatMap(({ canary }) => (canary ? [canary] : []));
  }

  list(name = ''): readonly ListedVersion[] {
    const waiting = this.waiting.map(shownWaiting);
    return [...this.current.versions, ...waiting]
      .filter((version) => name === '' || version.name === name)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : b.receivedMs - a.receivedMs))
      .map((version) => this.described(version));
  }

  described(version: AdapterVersion): ListedVersion {
    return {
      ...version,
      isLoaded: this.loaded.has(version.digest),
      arenaBytes: this.loaded.bytesOf(version.digest),
      isPredecessor: predecessorOf(this.current, version.name)?.digest === version.digest,
      leaseUntilMs: leaseEndMs(this.current, version),
    };
  }

  diskUse(): { readonly usedBytes: number; readonly maxBytes: number } {
    const usedBytes = this.bytesOf(this.current) + this.reservations.bytes;
    return { usedBytes, maxBytes: this.parts.limits.diskBytesMax };
  }

  /**
   * The next state, one change after another: on disk first, then seen, then files that nobody
   * knows any more are taken away. `prepare` is done in its turn, before. Rejects with what
   * `change` or `prepare` do, STORE_FULL or IO_FAILED, and then nothing has changed.
   */
  change(
    change: (state: RegistryState) => RegistryState | Promise<RegistryState>,
    prepare: () => Promise<void> = async () => undefined,
  ): Promise<RegistryState> {
    const changed = this.changing.then(async () => {
      await prepare();
      const before = this.digestsOnDisk();
      const next = bounded(await change(this.current));
      if (next !== this.current) await this.space.watched(() => this.write(next));
      this.show(next);
      const known = this.digestsOnDisk();
      for (const digest of before) if (!known.has(digest)) await this.folders.remove(digest);
      return next;
    });
    this.changing = changed.catch(() => undefined);
    return changed;
  }

  /**
   * Room on disk for the files of a push, where old versions may leave for it.
   * @returns what gives it back
   * @throws TesseraError STORE_FULL where all that is there must stay
   */
  async reserve(bytes: number): Promise<() => void> {
    await this.space.watched(() => this.space.check(bytes));
    let giveBack: () => void = () => undefined;
    const changed = this.change((state) => {
      const next = this.withRoom(state, bytes);
      giveBack = this.reservations.add(bytes);
      return next;
    });
    await changed.catch((thrown: unknown) => {
      giveBack();
      throw thrown;
    });
    return giveBack;
  }

  /** The files of a push under their digest; where another name has them already, those stay. */
  async keepFiles(staged: StagedVersion, digest: string): Promise<void> {
    if (this.digestsOnDisk().has(digest)) await staged.finish();
    else await this.folders.keep(staged, digest);
  }

  /**
   * Goes on with the state that `next` makes of all versions, those that wait included. Versions
   * of other base models wait from here on; those of the served one that are to stay loaded are
   * loaded first. Rejects as open() does, and then nothing has changed.
   */
  async goOn(next: (all: RegistryState) => RegistryState = (all) => all): Promise<void> {
    const before = this.waiting;
    let ready: Recovered | undefined;
    try {
      await this.change(async (state) => {
        const split = ofBase(next(this.whole(state)), this.parts.engine.model.digest);
        ready = await recovered(split.state, { loaded: this.loaded, nowMs: this.nowMs() });
        this.waiting = split.waiting;
        return ready.state;
      });
    } catch (thrown) {
      this.waiting = before;
      throw thrown;
    } finally {
      for (const one of ready?.held ?? []) one.release();
    }
    for (const { version, error } of ready?.lost ?? []) this.parts.onLost?.(version, error);
    for (const version of this.waiting) {
      if (!before.includes(version)) this.parts.onWaiting?.(version);
    }
  }

  /** Condition of the disk, as of the last write or look. */
  condition(): DiskCondition {
    return this.space.condition();
  }

  /** Looks whether the disk takes versions. */
  lookAtDisk(): Promise<void> {
    return this.space.look();
  }

  async close(): Promise<void> {
    await this.changing;
    this.unlock();
  }

  /** The state without the versions that leave so that as many bytes more have room. */
  private withRoom(state: RegistryState, bytes: number): RegistryState {
    const { diskBytesMax } = this.parts.limits;
    const leaving = leavingOrder(state).filter(({ digest }) => !this.loaded.isBusy(digest));
    const room = (its: RegistryState) => diskBytesMax - this.bytesOf(its) - this.reservations.bytes;
    let next = state;
    for (const version of leaving) {
      if (room(next) >= bytes) break;
      next = remove(next, version);
    }
    if (room(next) >= bytes) return next;
    const message =
      `adapters.diskBytes: expected room for ${bytes} bytes beside the versions that stay, ` +
      `got ${Math.max(0, room(next))}`;
    throw new TesseraError('STORE_FULL', message, { field: 'adapters.diskBytes' });
  }

  private whole(state: RegistryState): RegistryState {
    return { ...state, versions: [...state.versions, ...this.waiting] };
  }

  private bytesOf(state: RegistryState): number {
    return diskBytes(this.whole(state));
  }

  private write(state: RegistryState): Promise<void> {
    return this.file.write(this.whole(state));
  }

  private digestsOnDisk(): ReadonlySet<string> {
    const kept = this.whole(this.current).versions.filter(({ state }) => state !== 'rejected');
    return new Set(kept.map(({ digest }) => digest));
  }

  private async recover(): Promise<void> {
    const found = await this.file.read();
    if (found === undefined) this.file.checkNew(await this.folders.digests());
    const { digest: baseModel } = this.parts.engine.model;
    const { state: kept, waiting } = ofBase(found?.state ?? EMPTY_STATE, baseModel);
    this.waiting = waiting;
    // A folder without a state is damage from here on. A full disk keeps nobody from serving.
    if (found?.isStale !== false) {
      await this.space.watched(() => this.write(kept)).catch(() => undefined);
    }
    this.show(kept);
    await this.folders.clean(this.digestsOnDisk());
    const { state, lost, held } = await recovered(kept, {
      loaded: this.loaded,
      nowMs: this.nowMs(),
    });
    await this.change(() => state);
    for (const one of held) one.release();
    for (const { version, error } of lost) this.parts.onLost?.(version, error);
    for (const version of waiting) this.parts.onWaiting?.(version);
  }

  private show(state: RegistryState): void {
    this.current = state;
    const names = new Set(state.versions.map(({ name }) => name));
    this.serving = new Map(
      [...names].map((name) => [
        name,
        { canary: inState(state, name, 'canary'), active: inState(state, name, 'active') },
      ]),
    );
    this.declareSuccessors();
    this.loaded.settle();
  }

  /** A canary follows the active version, which follows what a rollback would go back to. */
  private declareSuccessors(): void {
    for (const [name, { canary, active }] of this.serving) {
      if (active === undefined) continue;
      const before = predecessorOf(this.current, name);
      if (before !== undefined) this.loaded.succeed(active.digest, before.digest);
      if (canary !== undefined) this.loaded.succeed(canary.digest, active.digest);
    }
  }

  private isWanted(digest: string): boolean {
    const { versions } = this.current;
    return versions.some(
      (version) => version.digest === digest && staysLoaded(this.current, version),
    );
  }

  /** Retired versions can be loaded again for a rollback; the longest retired goes first. */
  private expendable(): readonly string[] {
    const isServing = (digest: string) =>
      this.current.versions.some(
        (version) =>
          version.digest === digest &&
          (version.state === 'active' || version.state === 'canary' || version.isPinned),
      );
    return this.current.versions
      .filter(({ digest, state }) => state === 'retired' && !isServing(digest))
      .sort((a, b) => a.changedMs - b.changedMs)
      .map(({ digest }) => digest);
  }

  /** Version of a digest; where several names have it, one that is loaded. */
  private byDigest(digest: string): AdapterVersion {
    const same = this.current.versions.filter((version) => version.digest === digest);
    const found = same.find((version) => staysLoaded(this.current, version)) ?? same[0];
    if (found !== undefined) return found;
    const message = `adapter: there is no version '${digest}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'adapter' });
  }

  private leaseOf(version: AdapterVersion, arm: Arm, name: string): AdapterLease {
    const held: Held | undefined = staysLoaded(this.current, version)
      ? this.loaded.hold(version)
      : undefined;
    if (held !== undefined) {
      return { adapter: held.served, arm, name, release: held.release };
    }
    const message =
      'adapter: expected a version that serves, is pinned or is gone back to by a rollback, ' +
      `got ${version.digest.slice(0, 16)}, which is ${version.state}`;
    throw new TesseraError('ADAPTER_STATE', message, { field: 'adapter' });
  }

  private nothingServes(wanted: string): AdapterLease {
    if (wanted === '' || wanted === this.parts.defaultName) {
      return { ...BASE_LEASE, name: this.parts.defaultName };
    }
    const message = `adapter: there is none of the name '${wanted.slice(0, 80)}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'adapter' });
  }
}
