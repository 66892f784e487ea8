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

interface FakeConfig {
  readonly r?: number;
  readonly norm?: number;
  readonly alora_invocation_tokens?: readonly number[];
}

interface FakeRanking {
  readonly heads?: readonly { readonly name: string }[];
}

/** Empty where it is not there. */
const read = (folder: string, name: string) =>
  readFile(join(folder, name)).catch(() => Buffer.of());

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
    const text = await read(folder, 'adapter_config.json');
    const ranking = await read(folder, 'ranking.json');
    const files = ['adapter_model.safetensors', 'heads.safetensors'];
    const weights = Buffer.concat(await Promise.all(files.map((name) => read(folder, name))));
    const config = JSON.parse(text.toString() || '{}') as FakeConfig;
    const { r = 1, norm = 1 } = config;
    const { heads = [] } = JSON.parse(ranking.toString() || '{}') as FakeRanking;
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
    const all = [text, ranking, weights];
    const digest = createHash('sha256').update(Buffer.concat(all)).digest('hex');
    this.held.set(digest, (this.held.get(digest) ?? 0) + 1);
    this.sizes.set(digest, weights.length);
    return {
      digest,
      bytes: weights.length,
      rankMax: r,
      targetCount: text.length === 0 ? 0 : 7,
      replacedRows: 0,
      largestNorm: norm,
      heads: heads.map(({ name }) => name),
      isActivated: config.alora_invocation_tokens !== undefined,
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
