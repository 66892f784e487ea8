import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Submission } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { type Disk, diskError, FILE_SYSTEM } from '@tessera/files';
import type { AdaptersBeside } from './adapters-beside.js';
import { checkName } from './domain/adapter-version.js';
import { type DiskCondition, DiskReserve } from './outside/disk-reserve.js';
import { lockFolder } from './outside/folder-lock.js';
import { type KeptWeights, WeightsFile } from './outside/weights-file.js';

/** Times of an update, as the engine reports them; microseconds. */
export interface WeightsUpdate {
  readonly digest: string;
  readonly generation: number;
  readonly drainedUs: number;
  readonly swappedUs: number;
  /** Versions of adapters that it took out of service. */
  readonly endedAdapters?: number;
}

/** An update as it is asked for. */
export interface WantedWeights {
  /** '' is the model's own set. */
  readonly name: string;
  /** Without it an update beside adapters is refused. */
  readonly endAdapters?: boolean;
}

export interface WeightsEngine {
  readonly model: { readonly digest: string };
  updateWeights(folder: string, waitMaxMs: number): Promise<WeightsUpdate>;
  adapterArena(): { readonly adapters: number };
}

export interface ServedWeightsParts {
  readonly engine: WeightsEngine;
  /** Folder of the sets of weights, each as Hugging Face saves one; empty: no updates. */
  readonly path: string;
  /** The weights that the process was configured with: the set whose name is empty. */
  readonly modelPath: string;
  /** Milliseconds that nobody is let in for the sake of an update at most. */
  readonly waitMaxMs: number;
  readonly disk?: Disk;
  /** Free bytes of the file system of `path` below which no update is done. */
  readonly reserveBytes?: number;
}

export interface WeightsState {
  /** Name of the set; empty: those that the process was configured with. */
  readonly serving: string;
  readonly previous: string;
  readonly digest: string;
}

/** Puts an update in order and resolves when it is done here. */
export type WeightsOrder = (wanted: WantedWeights, how: Submission) => Promise<WeightsUpdate>;

/** Which set of weights serves. Kept in a file beside the sets: a restart goes on with it. */
export class ServedWeights {
  private state: KeptWeights = { serving: '', previous: '' };
  /** Undefined: updates are done as they come. */
  private order: WeightsOrder | undefined;
  private adapters: Pick<AdaptersBeside, 'end' | 'rebase'> | undefined;
  /** Updates go one after another. */
  private last: Promise<unknown> = Promise.resolve();

  private readonly disk: Disk;
  private readonly kept: WeightsFile;
  private readonly space: DiskReserve;
  private unlock: (() => void) | undefined;

  private constructor(private readonly parts: ServedWeightsParts) {
    const { path, disk = FILE_SYSTEM, reserveBytes = 0 } = parts;
    this.disk = disk;
    this.kept = new WeightsFile(path, disk);
    this.space = new DiskReserve(disk, path, reserveBytes);
  }

  /**
   * Puts the set in service that served last. Rejects with STORE_INVALID where another process has
   * the folder, MODEL_CORRUPT for a broken file, and as
   * `update` does: going back unasked to weights that somebody has replaced would be worse than not
   * starting.
   */
  static async open(parts: ServedWeightsParts): Promise<ServedWeights> {
    const weights = new ServedWeights(parts);
    if (parts.path === '') return weights;
    try {
      if (await isFolder(parts.path)) weights.lock();
      weights.state = await weights.read();
      const { serving } = weights.state;
      if (serving !== '') await parts.engine.updateWeights(weights.folderOf(serving), 0);
      return weights;
    } catch (thrown) {
      await weights.close();
      throw thrown;
    }
  }

  /** Condition of the disk, as of the last update or look. */
  condition(): DiskCondition {
    return this.space.condition();
  }

  async lookAtDisk(): Promise<void> {
    if (this.unlock !== undefined) await this.space.look();
  }

  /** Gives the folder back. */
  async close(): Promise<void> {
    await this.last;
    this.unlock?.();
    this.unlock = undefined;
  }

  current(): WeightsState {
    return { ...this.state, digest: this.parts.engine.model.digest };
  }

  /**
   * Rejects with ADAPTER_INVALID for a bad name, ADAPTER_STATE while adapters are loaded, which
   * were made for the weights that serve, and as Engine.updateWeights does: then the old weights
   * serve on.
   */
  update(wanted: WantedWeights, how: Submission = {}): Promise<WeightsUpdate> {
    checkName(wanted.name);
    return this.order === undefined ? this.perform(wanted) : this.order(wanted, how);
  }

  /** To the set before; a second time, to the one that was left. Rejects as `update` does. */
  rollBack(how: Submission = {}): Promise<WeightsUpdate> {
    const { order } = this;
    if (order === undefined) return this.inTurn(() => this.swap({ name: this.state.previous }));
    return order({ name: this.state.previous }, how);
  }

  /** Adapters of the same engine. */
  serveBeside(adapters: Pick<AdaptersBeside, 'end' | 'rebase'>): void {
    this.adapters = adapters;
  }

  /** Gives the ordering of updates to a caller, which gives them to perform() in its order. */
  orderBy(order: WeightsOrder): void {
    this.order = order;
  }

  /** Does what has its place in the order, here; also a second time, behind a crash. */
  perform(wanted: WantedWeights): Promise<WeightsUpdate> {
    return this.inTurn(() => this.swap(wanted));
  }

  /**
   * Adapters end before the weights change, and each is on disk before the next: a crash between
   * them leaves the old weights alone in service, and the update is done again or not.
   */
  private async swap({ name, endAdapters = false }: WantedWeights): Promise<WeightsUpdate> {
    if (this.parts.path === '') {
      const message = 'weights.path: expected a folder, got none: weights are not updated here';
      throw new TesseraError('ADAPTER_STATE', message);
    }
    const reason = `ended by an update of the weights to '${name}'`;
    const ended = endAdapters ? await this.adapters?.end(reason) : undefined;
    const update = await this.put(name).catch(async (thrown: unknown) => {
      await ended?.undo();
      throw thrown;
    });
    await this.adapters?.rebase();
    return ended === undefined ? update : { ...update, endedAdapters: ended.count };
  }

  /** In place of the weights that serve. */
  private async put(name: string): Promise<WeightsUpdate> {
    const { engine, waitMaxMs } = this.parts;
    const { adapters } = engine.adapterArena();
    if (adapters > 0) {
      const message =
        `weights: expected no adapter in memory, got ${adapters}: ` +
        'they belong to the weights that serve; roll back and unpin them first, or end them with ' +
        '`weights update NAME --end-adapters`, `end_adapters` of UpdateRequest';
      throw new TesseraError('ADAPTER_STATE', message);
    }
    if (this.unlock !== undefined) await this.space.watched(() => this.space.check(0));
    const update = await engine.updateWeights(this.folderOf(name), waitMaxMs);
    if (name === this.state.serving) return update;
    const next = { serving: name, previous: this.state.serving };
    try {
      await this.space.watched(() => this.write(next));
    } catch (error) {
      // An update that cannot be kept is not done: after a restart the old weights would be back.
      await engine.updateWeights(this.folderOf(this.state.serving), waitMaxMs);
      throw error;
    }
    this.state = next;
    return update;
  }

  private folderOf(name: string): string {
    return name === '' ? this.parts.modelPath : join(this.parts.path, name);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work, work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private lock(): void {
    this.unlock ??= lockFolder(this.parts.path, 'weights.path');
  }

  private async read(): Promise<KeptWeights> {
    const found = await this.kept.read();
    if (found?.isStale === true) await this.kept.write(found.state).catch(() => undefined);
    return found?.state ?? { serving: '', previous: '' };
  }

  private async write(state: KeptWeights) {
    try {
      await this.disk.makeFolder(this.parts.path);
      this.lock();
    } catch (thrown) {
      throw diskError(thrown, 'which weights serve could not be kept');
    }
    await this.kept.write(state);
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
