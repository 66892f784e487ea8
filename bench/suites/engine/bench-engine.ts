import { loadConfig } from '@tessera/config';
import {
  type AdapterArena,
  type Binding,
  type Catalogue,
  type EngineAdapter,
  type EngineAnswer,
  type EngineModel,
  type EngineOptions,
  type EngineRanked,
  type EngineRanking,
  type EngineRequest,
  type EngineStats,
  type EngineUpdate,
  engineLimits,
  type KvPool,
  type KvPrefetch,
  type KvUse,
  NativeEngine,
  NO_ELIGIBILITY,
  NO_POLICY,
  openCatalogue,
} from '@tessera/engine';
import { type ModelShape, POSITIONS } from '../../models/model-shape.js';
import {
  levelTokens,
  type RandomCatalogue,
  randomCatalogue,
  randomPrompt,
} from '../../models/random-catalogue.js';
import { randomModel } from '../../models/random-model.js';
import { kvNumbersPerPosition, type NumberFormat } from './floor.js';
import type { ComputeType } from './machine.js';

export const ITEMS = 1_000_000;
const BUDGET_US = 600e6;
const WIDTH_MAX = 256;
const ADAPTER_LIMITS = { rankMax: 128, normMax: 1e4 };
/** Bytes of a weight of the layers and of the head. */
const BYTES = { f32: [4, 4], bf16: [2, 2], w8a8: [1, 2] } as const;

export type OpenOptions = Partial<
  Omit<EngineOptions, 'modelPath' | 'computeType' | 'activationScalesPath'>
>;

/** Weights of a shape, and a catalogue whose codes their vocabulary writes. */
export interface BenchFolders {
  readonly shape: ModelShape;
  readonly modelPath: string;
  readonly random: RandomCatalogue;
}

export interface Ask {
  readonly tokens: Int32Array;
  readonly width: number;
  readonly kv?: KvUse;
  readonly adapter?: EngineAdapter;
  /** Left out: full. */
  readonly scoreNorm?: EngineRequest['scoreNorm'];
  /** Of a certified search; left out: a beam. */
  readonly rowBudget?: number;
  /** Left out: as many as the beam is wide. */
  readonly resultCount?: number;
  readonly ranking?: EngineRanking;
}

/** The engine in this process with a random model and catalogue, through the service's own port. */
export class BenchEngine {
  private constructor(
    readonly shape: ModelShape,
    readonly computeType: ComputeType,
    private readonly engine: NativeEngine,
    private readonly catalogue: Catalogue,
    private readonly random: RandomCatalogue,
    private readonly binding: Binding,
    /** Reading and packing the weights, and measuring what passes cost. */
    readonly openSeconds: number,
  ) {}

  static async open(
    shape: ModelShape,
    computeType: ComputeType,
    options: OpenOptions,
    say: (line: string) => void,
    items = ITEMS,
  ): Promise<BenchEngine> {
    const folders = {
      shape,
      modelPath: randomModel(shape, say),
      random: await randomCatalogue(items, say),
    };
    return BenchEngine.openFolders(folders, computeType, options);
  }

  static async openFolders(
    { shape, modelPath, random }: BenchFolders,
    computeType: ComputeType,
    options: OpenOptions,
  ): Promise<BenchEngine> {
    const catalogue = await openCatalogue(random.snapshotPath);
    try {
      const { vocabulary: _, ...limits } = engineLimits(loadConfig().config.engine);
      const started = performance.now();
      const engine = await NativeEngine.open({
        ...limits,
        promptTokensMax: POSITIONS,
        widthMax: WIDTH_MAX,
        ...options,
        modelPath,
        computeType,
        activationScalesPath: '',
      });
      const seconds = (performance.now() - started) / 1000;
      const binding = engine.bind(catalogue, levelTokens(random.form));
      return new BenchEngine(shape, computeType, engine, catalogue, random, binding, seconds);
    } catch (error) {
      catalogue.close();
      throw error;
    }
  }

  get model(): EngineModel {
    return this.engine.model;
  }

  get format(): NumberFormat {
    const [weightBytes, headBytes] = BYTES[this.computeType];
    const kvBytes = this.engine.model.kvBytesPerPosition / kvNumbersPerPosition(this.shape);
    return { weightBytes, headBytes, kvBytes };
  }

  prompt(length: number, seed: number): Int32Array {
    return randomPrompt(this.random.sids, length, seed, this.random.form);
  }

  recall(ask: Ask): Promise<EngineAnswer> {
    const { tokens, width, kv, adapter, scoreNorm = 'full', rowBudget, resultCount = width } = ask;
    const { ranking } = ask;
    return this.engine.recall({
      binding: this.binding,
      promptTokens: tokens,
      adapter,
      ...(kv === undefined ? {} : { kv }),
      widths: [width],
      rowBudget,
      resultCount,
      ranking,
      itemsPerSid: 1,
      scoreNorm,
      priority: 'normal',
      budgetUs: BUDGET_US,
    });
  }

  /** Numbers of heads for items, by their ordinals. */
  async rank(
    { tokens, kv }: Pick<Ask, 'tokens' | 'kv'>,
    items: Uint32Array,
    ranking: EngineRanking,
  ): Promise<EngineRanked> {
    const eligibility = Object.assign({ caps: [] }, NO_ELIGIBILITY);
    const reach = await this.catalogue.reach({ eligibility, itemPolicy: NO_POLICY });
    return this.engine.rank({
      binding: this.binding,
      promptTokens: tokens,
      ...(kv === undefined ? {} : { kv }),
      reach,
      items,
      ranking,
      priority: 'normal',
      budgetUs: BUDGET_US,
    });
  }

  /** Of items, by their ordinals. */
  sids(items: Uint32Array): readonly (readonly number[])[] {
    return this.catalogue.view().sids(items);
  }

  async append(tokens: Int32Array, kv?: KvUse): Promise<void> {
    const request = { binding: this.binding, promptTokens: tokens, budgetUs: BUDGET_US };
    const use = kv === undefined ? {} : { kv };
    await this.engine.append({ ...request, ...use, priority: 'low' });
  }

  loadAdapter(folder: string): Promise<EngineAdapter> {
    return this.engine.loadAdapter(folder, ADAPTER_LIMITS);
  }

  releaseAdapter(adapter: EngineAdapter): void {
    this.engine.releaseAdapter(adapter);
  }

  adapterArena(): AdapterArena {
    return this.engine.adapterArena();
  }

  updateWeights(folder: string, waitMaxMs: number): Promise<EngineUpdate> {
    return this.engine.updateWeights(folder, waitMaxMs);
  }

  /** Matrices of one layer, packed. */
  get layerBytes(): number {
    const { hidden, heads, kvHeads, headDim, inner } = this.shape;
    const [weightBytes] = BYTES[this.computeType];
    return weightBytes * hidden * (2 * (heads + kvHeads) * headDim + 3 * inner);
  }

  prefetch(userId: string): KvPrefetch {
    return this.engine.prefetch(this.binding, userId);
  }

  get kvPool(): KvPool {
    return this.engine.kvPool;
  }

  /** Until what is kept is on disk. */
  drain(): Promise<void> {
    return this.engine.drain(BUDGET_US / 1000);
  }

  stats(): EngineStats {
    return this.engine.stats();
  }

  async close(): Promise<void> {
    await this.engine.close();
    this.catalogue.close();
  }
}

/** Opens, measures and closes, whatever happens in between. */
export async function withEngine<T>(
  opened: Promise<BenchEngine>,
  measure: (engine: BenchEngine) => Promise<T>,
): Promise<T> {
  const engine = await opened;
  try {
    return await measure(engine);
  } finally {
    await engine.close();
  }
}
