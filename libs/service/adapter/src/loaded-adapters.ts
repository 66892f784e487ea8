import { TesseraError } from '@tessera/errors';
import type { Tokenizer } from '@tessera/prompt';
import type { ItemReading, ServedAdapter } from './domain/adapter-choice.js';
import type { AdapterEngine, AdapterLimits, EngineAdapter } from './domain/adapter-engine.js';
import type { AdapterVersion } from './domain/adapter-version.js';
import { readRanking } from './outside/ranking-file.js';
import type { VersionFolders } from './outside/version-folders.js';

interface Loaded {
  readonly digest: string;
  readonly adapter: EngineAdapter;
  readonly reading: ItemReading | undefined;
  /** Requests, and whoever else works with it. */
  holds: number;
}

/** A version in the engine that stays there until it is given back. */
export interface Held {
  readonly served: ServedAdapter;
  /** Idempotent. */
  release(): void;
}

/**
 * Versions in the engine's arena, by digest: names that have the same content share one. A
 * version without holders that need not stay is given back at once.
 */
export class LoadedAdapters {
  private readonly loaded = new Map<string, Loaded>();
  private readonly loading = new Map<string, Promise<Loaded>>();
  /** Told when none is loaded or on its way. */
  private readonly waiters = new Set<() => void>();

  constructor(
    private readonly engine: AdapterEngine,
    private readonly folders: VersionFolders,
    private readonly limits: AdapterLimits,
    /** Undefined: no version that ranks is loaded. */
    private readonly tokenizer: Pick<Tokenizer, 'encode'> | undefined,
    /** True if a version is to stay loaded when nobody holds it. */
    private readonly stays: (digest: string) => boolean,
    /** Digests that may be given back where room is needed, the first one first. */
    private readonly expendable: () => readonly string[],
  ) {}

  has(digest: string): boolean {
    return this.loaded.has(digest);
  }

  /** Someone works with it, so that its files must stay. */
  isBusy(digest: string): boolean {
    return this.loading.has(digest) || (this.loaded.get(digest)?.holds ?? 0) > 0;
  }

  bytesOf(digest: string): number {
    return this.loaded.get(digest)?.adapter.bytes ?? 0;
  }

  /** Hold on a version that is loaded; undefined where it is not. */
  hold({ name, digest }: Pick<AdapterVersion, 'name' | 'digest'>): Held | undefined {
    const loaded = this.loaded.get(digest);
    return loaded && this.heldOf(name, loaded);
  }

  /**
   * Rejects with ADAPTER_CORRUPT or ADAPTER_NOT_FOUND where the files are not those that were
   * pushed, and as Engine.loadAdapter does.
   */
  async load({ name, digest, files }: AdapterVersion): Promise<Held> {
    const present = this.loaded.get(digest);
    if (present !== undefined) return this.heldOf(name, present);
    let loading = this.loading.get(digest);
    if (loading === undefined) {
      loading = this.loadFrom(digest, files).finally(() => {
        this.loading.delete(digest);
        this.tellIfEmpty();
      });
      this.loading.set(digest, loading);
    }
    return this.heldOf(name, await loading);
  }

  /** Requests with the one may go on with keys and values of the other, where both are loaded. */
  succeed(digest: string, predecessor: string): void {
    const [next, before] = [this.loaded.get(digest), this.loaded.get(predecessor)];
    if (next === undefined || before === undefined || next === before) return;
    this.engine.succeedAdapter(next.adapter, before.adapter);
  }

  /** Gives back versions that are to stay no more. */
  settle(): void {
    for (const loaded of [...this.loaded.values()]) this.settleOne(loaded);
  }

  /** Resolves when none is loaded. Rejects with DEADLINE_EXCEEDED after so many milliseconds. */
  async emptied(waitMaxMs: number): Promise<void> {
    if (this.isEmpty) return;
    let tell: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    const emptied = new Promise<void>((resolve, reject) => {
      tell = resolve;
      timer = setTimeout(() => {
        const message =
          `adapters: expected requests with them to end within ${waitMaxMs} ms, ` +
          `got ${this.loaded.size} versions in use`;
        reject(new TesseraError('DEADLINE_EXCEEDED', message));
      }, waitMaxMs);
    });
    this.waiters.add(tell);
    try {
      await emptied;
    } finally {
      clearTimeout(timer);
      this.waiters.delete(tell);
    }
  }

  private get isEmpty(): boolean {
    return this.loaded.size === 0 && this.loading.size === 0;
  }

  private tellIfEmpty(): void {
    if (this.isEmpty) for (const tell of this.waiters) tell();
  }

  private async loadFrom(digest: string, files: AdapterVersion['files']): Promise<Loaded> {
    await this.folders.verify(digest, files);
    const adapter = await this.loadIntoArena(digest);
    const reading = await this.readingOf(digest, adapter).catch((thrown: unknown) => {
      this.engine.releaseAdapter(adapter);
      throw thrown;
    });
    const loaded = { digest, adapter, reading, holds: 0 };
    this.loaded.set(digest, loaded);
    return loaded;
  }

  private async readingOf(
    digest: string,
    adapter: EngineAdapter,
  ): Promise<ItemReading | undefined> {
    if (adapter.heads.length === 0) return undefined;
    const { engine, folders, tokenizer } = this;
    if (tokenizer !== undefined) {
      return readRanking(folders.pathOf(digest), adapter, engine.model.digest, tokenizer);
    }
    throw new TesseraError('INTERNAL', 'ranking.json: expected a tokenizer to read it, got none');
  }

  private async loadIntoArena(digest: string): Promise<EngineAdapter> {
    const folder = this.folders.pathOf(digest);
    for (;;) {
      try {
        return await this.engine.loadAdapter(folder, this.limits);
      } catch (thrown) {
        const { code, message, field } = TesseraError.from(thrown);
        if (code === 'ADAPTER_ARENA_FULL' && this.makeRoom()) continue;
        // Its files as the trainer knows them, who has never seen this folder.
        const own = message.replaceAll(`${folder}/`, '').replaceAll(`${folder}: `, '');
        throw new TesseraError(code, own, { field, cause: thrown });
      }
    }
  }

  /** False where nothing can go. */
  private makeRoom(): boolean {
    const idle = (digest: string) => this.loaded.get(digest)?.holds === 0;
    const leaving = this.expendable().find(idle);
    if (leaving === undefined) return false;
    this.release(this.loaded.get(leaving) as Loaded);
    return true;
  }

  private heldOf(name: string, loaded: Loaded): Held {
    const { digest, adapter: engine, reading } = loaded;
    loaded.holds += 1;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      loaded.holds -= 1;
      this.settleOne(loaded);
    };
    return { served: { name, digest, engine, reading }, release };
  }

  private settleOne(loaded: Loaded): void {
    if (loaded.holds === 0 && !this.stays(loaded.digest)) this.release(loaded);
  }

  private release(loaded: Loaded): void {
    if (!this.loaded.delete(loaded.digest)) return;
    this.engine.releaseAdapter(loaded.adapter);
    this.tellIfEmpty();
  }
}
