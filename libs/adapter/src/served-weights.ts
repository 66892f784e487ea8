import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { z } from 'zod';
import { type Disk, FILE_SYSTEM, replaceFile } from './adapters/disk.js';
import { checkName } from './domain/adapter-version.js';

const STATE_FILE = 'weights.json';
const FORMAT = 1;
const stateSchema = z.strictObject({
  format: z.literal(FORMAT),
  serving: z.string(),
  previous: z.string(),
});

/** What an update did, as the engine says it; microseconds. */
export interface WeightsUpdate {
  readonly digest: string;
  readonly generation: number;
  readonly drainedUs: number;
  readonly swappedUs: number;
}

export interface WeightsEngine {
  readonly model: { readonly digest: string };
  updateWeights(folder: string, waitMaxMs: number): Promise<WeightsUpdate>;
  adapterArena(): { readonly adapters: number };
}

export interface ServedWeightsParts {
  readonly engine: WeightsEngine;
  /** Of the sets of weights, each a folder as Hugging Face saves one; empty: no updates. */
  readonly path: string;
  /** The weights that the process was configured with: the set whose name is empty. */
  readonly modelPath: string;
  /** Milliseconds that nobody is let in for the sake of an update at most. */
  readonly waitMaxMs: number;
  readonly disk?: Disk;
}

export interface WeightsState {
  /** Name of the set; empty: those that the process was configured with. */
  readonly serving: string;
  readonly previous: string;
  readonly digest: string;
}

/** Which set of weights serves. Kept in a file beside the sets: a restart goes on with it. */
export class ServedWeights {
  private state = { serving: '', previous: '' };
  /** Updates go one after another. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(private readonly parts: ServedWeightsParts) {}

  /**
   * Puts the set in service that served last. Rejects with MODEL_CORRUPT for a broken file, and as
   * `update` does: going back unasked to weights that somebody has replaced would be worse than not
   * starting.
   */
  static async open(parts: ServedWeightsParts): Promise<ServedWeights> {
    const weights = new ServedWeights(parts);
    if (parts.path === '') return weights;
    weights.state = await weights.read();
    const { serving } = weights.state;
    if (serving !== '') await parts.engine.updateWeights(weights.folderOf(serving), 0);
    return weights;
  }

  current(): WeightsState {
    return { ...this.state, digest: this.parts.engine.model.digest };
  }

  /**
   * Rejects with ADAPTER_INVALID for a bad name, ADAPTER_STATE while adapters are loaded, which
   * were made for the weights that serve, and as Engine.updateWeights does: then the old weights
   * serve on.
   */
  update(name: string): Promise<WeightsUpdate> {
    checkName(name);
    return this.inTurn(() => this.swap(name));
  }

  /** To the set before; a second time, to the one that was left. Rejects as `update` does. */
  rollBack(): Promise<WeightsUpdate> {
    return this.inTurn(() => this.swap(this.state.previous));
  }

  private async swap(name: string): Promise<WeightsUpdate> {
    const { engine, path, waitMaxMs } = this.parts;
    if (path === '') {
      const message = 'weights.path: expected a folder, came none: weights are not updated here';
      throw new TesseraError('ADAPTER_STATE', message);
    }
    const { adapters } = engine.adapterArena();
    if (adapters > 0) {
      const message =
        `weights: expected no adapter in memory, came ${adapters}: ` +
        'they belong to the weights that serve; roll back and unpin them first';
      throw new TesseraError('ADAPTER_STATE', message);
    }
    const update = await engine.updateWeights(this.folderOf(name), waitMaxMs);
    if (name === this.state.serving) return update;
    const next = { serving: name, previous: this.state.serving };
    try {
      await this.write(next);
    } catch (error) {
      // What cannot be kept is not done: after a restart the old weights would be back.
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

  private async read() {
    const file = join(this.parts.path, STATE_FILE);
    const text = await this.disk.read(file);
    if (text === undefined) return { serving: '', previous: '' };
    try {
      const { serving, previous } = stateSchema.parse(JSON.parse(text.toString('utf8')));
      for (const name of [serving, previous]) if (name !== '') checkName(name);
      return { serving, previous };
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${file}: expected which weights serve, came: ${reason.slice(0, 500)}`;
      throw new TesseraError('MODEL_CORRUPT', message, { cause });
    }
  }

  private async write(state: { readonly serving: string; readonly previous: string }) {
    const text = `${JSON.stringify({ format: FORMAT, ...state })}\n`;
    await this.disk.makeFolder(this.parts.path);
    await replaceFile(this.disk, join(this.parts.path, STATE_FILE), text, 'which weights serve');
  }

  private get disk(): Disk {
    return this.parts.disk ?? FILE_SYSTEM;
  }
}
