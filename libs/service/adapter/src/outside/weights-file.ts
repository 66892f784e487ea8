import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import type { Disk } from '@tessera/files';
import { z } from 'zod';
import { checkName } from '../domain/adapter-version.js';
import { KeptState } from './kept-state.js';

const NAME = 'weights.json';
const stateSchema = z.strictObject({
  serving: z.string(),
  previous: z.string(),
});

/** Sets of weights by name; '' is the model's own. */
export type KeptWeights = z.infer<typeof stateSchema>;

/** The record of which weights serve, on disk. */
export class WeightsFile {
  private readonly kept: KeptState;

  constructor(folder: string, disk: Disk) {
    this.kept = new KeptState(disk, join(folder, NAME), 'which weights serve');
  }

  /**
   * Undefined where none was ever written here. Rejects with STORE_NEWER, or MODEL_CORRUPT where
   * neither the file nor its copy can be read.
   */
  async read(): Promise<{ readonly state: KeptWeights; readonly isStale: boolean } | undefined> {
    try {
      return await this.kept.read((members) => {
        const state = stateSchema.parse(members);
        for (const name of [state.serving, state.previous]) if (name !== '') checkName(name);
        return state;
      });
    } catch (cause) {
      if (cause instanceof TesseraError && cause.code !== 'ADAPTER_INVALID') throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${this.kept.path}: expected which weights serve, got: ${reason}`;
      throw new TesseraError('MODEL_CORRUPT', message.slice(0, 1000), { cause });
    }
  }

  /** Resolves when it is durable. Rejects with STORE_FULL or IO_FAILED: the old state stands. */
  async write({ serving, previous }: KeptWeights): Promise<void> {
    await this.kept.write({ serving, previous });
  }
}
