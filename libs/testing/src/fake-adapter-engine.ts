import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';

export interface FakeEngineAdapter {
  readonly digest: string;
  readonly bytes: number;
  readonly rankMax: number;
  readonly targetCount: number;
  readonly replacedRows: number;
  readonly largestNorm: number;
  readonly heads: readonly string[];
  readonly isActivated: boolean;
}

/**
 * An arena without an engine. `adapter_config.json` says what comes of a load: `{"r", "norm"}`; the
 * bytes of the weights are those of the arena.
 */
export class FakeAdapterEngine {
  readonly model: { digest: string } = { digest: 'fake-model' };
  /** Loads minus releases, by content. */
  readonly held = new Map<string, number>();
  /** The predecessor of each, by content. */
  readonly predecessors = new Map<string, string>();
  loads = 0;
  /** While set, loads wait for it. */
  gate: Promise<void> | undefined;

  constructor(private readonly arenaBytes = 1 << 20) {}

  async loadAdapter(
    folder: string,
    limits: { readonly rankMax: number; readonly normMax: number },
  ): Promise<FakeEngineAdapter> {
    await this.gate;
    const text = await readFile(join(folder, 'adapter_config.json'));
    const weights = await readFile(join(folder, 'adapter_model.safetensors'));
    const { r = 1, norm = 1 } = JSON.parse(text.toString()) as { r?: number; norm?: number };
    const bounds = [
      ['r', r, limits.rankMax],
      ['norm', norm, limits.normMax],
    ] as const;
    for (const [field, got, most] of bounds) {
      if (got <= most) continue;
      const file = `${folder}/adapter_config.json`;
      const message = `${file}: ${field}: expected at most ${most}, got ${got}`;
      throw new TesseraError('ADAPTER_INVALID', message, { field });
    }
    const free = this.arenaBytes - this.adapterArena().usedBytes;
    if (weights.length > free) {
      const message = `adapter: expected room for ${weights.length} bytes, got ${free}`;
      throw new TesseraError('ADAPTER_ARENA_FULL', message);
    }
    this.loads += 1;
    const digest = createHash('sha256').update(text).update(weights).digest('hex');
    this.held.set(digest, (this.held.get(digest) ?? 0) + 1);
    this.sizes.set(digest, weights.length);
    return {
      digest,
      bytes: weights.length,
      rankMax: r,
      targetCount: 7,
      replacedRows: 0,
      largestNorm: norm,
      heads: [],
      isActivated: false,
    };
  }

  releaseAdapter({ digest }: FakeEngineAdapter): void {
    const count = this.held.get(digest) ?? 0;
    if (count === 0) throw new TesseraError('INTERNAL', `${digest}: released and not loaded`);
    if (count === 1) this.held.delete(digest);
    else this.held.set(digest, count - 1);
  }

  succeedAdapter({ digest }: FakeEngineAdapter, predecessor: FakeEngineAdapter): void {
    for (const one of [digest, predecessor.digest]) {
      if (!this.held.has(one)) throw new TesseraError('INTERNAL', `${one}: not loaded`);
    }
    this.predecessors.set(digest, predecessor.digest);
  }

  adapterArena() {
    const usedBytes = [...this.held.keys()].reduce(
      (sum, one) => sum + (this.sizes.get(one) ?? 0),
      0,
    );
    return { usedBytes, maxBytes: this.arenaBytes, adapters: this.held.size };
  }

  private readonly sizes = new Map<string, number>();
}
