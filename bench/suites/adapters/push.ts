import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AdapterProbe, Adapters, fetchedParts } from '@tessera/adapter';
import type { EngineAdapter } from '@tessera/engine';
import { temporaryFolder } from '@tessera/testing';
import { MEBIBYTE } from '@tessera/units';
import { SHAPES, type ShapeName } from '../../models/model-shape.js';
import { randomAdapter } from '../../models/random-adapter.js';
import { type Measurement, quantile } from '../../result.js';
import { BenchEngine, withEngine } from '../engine/bench-engine.js';
import type { SuiteContext } from '../suite.js';

const NAME = 'main';
const GOLDEN_USERS = 16;
const PROMPT_TOKENS = 256;
const WIDTH = 16;
const ITEMS = 20_000;
const ARENA_BYTES = 2 ** 31;
const DISK_BYTES = 2 ** 33;
const SEEDS_PER_RANK = 1000;
const RULES = {
  samplesMin: 1,
  overlapMinPercent: 0,
  failureMaxPercent: 100,
  emptyMaxPercent: 100,
  shortMaxPercent: 100,
  latencyMaxPercent: 100_000,
  clickDropMax: 1_000_000,
};
const QUICK = { shapes: ['8x512'] as const, ranks: [8, 32], pushes: 2 };
/** About 1 to 10 MiB of the small shape, 10 to 77 MiB of the large one. */
const FULL = {
  shapes: Object.keys(SHAPES) as ShapeName[],
  ranks: [8, 16, 32, 40, 64],
  pushes: 5,
};

const STEPS = ['receive', 'validate', 'golden', 'activate'] as const;
type Steps = Readonly<Record<(typeof STEPS)[number], number>>;

/** The waits of a version from its push to its first request, by the size of its files. */
export async function push(context: SuiteContext): Promise<Measurement[]> {
  const { shapes, ranks, pushes } = context.quick ? QUICK : FULL;
  const threadCount = Number(context.flags.text('threads') ?? 2);
  const measurements: Measurement[] = [];
  for (const name of shapes) {
    const options = { threadCount, adapterBytesMax: ARENA_BYTES };
    const opened = BenchEngine.open(SHAPES[name], 'bf16', options, context.say, ITEMS);
    await withEngine(opened, async (engine) => {
      for (const rank of ranks) {
        context.say(`${name}: pushes of rank ${rank}`);
        measurements.push(...(await pushesOf(engine, rank, pushes)));
      }
    });
  }
  return measurements;
}

async function pushesOf(engine: BenchEngine, rank: number, pushes: number): Promise<Measurement[]> {
  const folder = temporaryFolder({});
  const run = await PushRun.open(engine, folder.path);
  const all: Steps[] = [];
  try {
    for (let at = 0; at < pushes; at += 1) all.push(await run.push(rank, at));
  } finally {
    await run.close();
    folder.remove();
  }
  const size = `${(run.fileBytes / MEBIBYTE).toFixed(1)} MiB (rank ${rank})`;
  const near = `${engine.shape.name} bf16, push of ${size}`;
  const row = (name: string, values: readonly number[]): Measurement => ({
    name: `${near}: ${name}`,
    value: quantile(values, 0.5),
    unit: 'ms',
    bar: null,
  });
  const totals = all.map((steps) => STEPS.reduce((sum, step) => sum + steps[step], 0));
  const golden = `golden set of ${GOLDEN_USERS}`;
  const names = { receive: 'receive', validate: 'validate', golden, activate: 'compare, activate' };
  const steps = STEPS.map((step) =>
    row(
      names[step],
      all.map((one) => one[step]),
    ),
  );
  return [row('to active', totals), ...steps];
}

class PushRun {
  /** When the engine was asked to load the version, and when it had. */
  private loads: { begun: number; ended: number } | undefined;
  private adapters!: Adapters;
  /** Of the version that was pushed last. */
  fileBytes = 0;

  private constructor(
    private readonly engine: BenchEngine,
    private readonly folder: string,
  ) {}

  static async open(engine: BenchEngine, folder: string): Promise<PushRun> {
    const run = new PushRun(engine, folder);
    const limits = { rankMax: 128, normMax: 1e6 };
    const registry = {
      folder: join(folder, 'kept'),
      defaultName: NAME,
      limits: { ...limits, versionBytesMax: DISK_BYTES, diskBytesMax: DISK_BYTES },
    };
    const rollout = {
      golden: { path: '', userCount: GOLDEN_USERS },
      watch: { rules: RULES },
      warmUsers: 0,
      warmMs: 0,
    };
    const settings = { registry, rollout, onEvent: () => undefined };
    run.adapters = await Adapters.open(run.timedEngine(), run.probe(), settings);
    return run;
  }

  /** Of one version, milliseconds by step. */
  async push(rank: number, at: number): Promise<Steps> {
    const { shape } = this.engine;
    const location = `peft-${at}`;
    const path = join(this.folder, location);
    randomAdapter(path, shape, rank, rank * SEEDS_PER_RANK + at);
    const sizes = readdirSync(path).map((file) => statSync(join(path, file)).size);
    this.fileBytes = sizes.reduce((sum, size) => sum + size, 0);
    const announced = { location, name: NAME, baseModel: shape.name, sha256: {} };
    this.loads = undefined;
    const begun = performance.now();
    const { version } = await this.adapters.push(fetchedParts(this.folder, announced));
    const pushed = performance.now();
    const loaded = this.loads as { begun: number; ended: number } | undefined;
    if (loaded === undefined) throw new Error('the version was not loaded');
    await this.adapters.activate(NAME, version.digest, {
      share: 1,
      isCompared: true,
      isWarmed: false,
    });
    return {
      receive: loaded.begun - begun,
      validate: loaded.ended - loaded.begun,
      golden: pushed - loaded.ended,
      activate: performance.now() - pushed,
    };
  }

  async close(): Promise<void> {
    await this.adapters.close();
  }

  private timedEngine() {
    const { engine } = this;
    return {
      model: { digest: engine.shape.name },
      loadAdapter: async (folder: string) => {
        const begun = performance.now();
        const adapter = await engine.loadAdapter(folder);
        this.loads ??= { begun, ended: performance.now() };
        return adapter;
      },
      releaseAdapter: (adapter: EngineAdapter) => engine.releaseAdapter(adapter),
      succeedAdapter: () => undefined,
      adapterArena: () => engine.adapterArena(),
    };
  }

  private probe(): AdapterProbe {
    return {
      recall: async ({ userId }, adapter) => {
        const tokens = this.engine.prompt(PROMPT_TOKENS, Number(userId));
        const ask = adapter === undefined ? {} : { adapter: adapter.engine as EngineAdapter };
        const { items } = await this.engine.recall({ tokens, width: WIDTH, ...ask });
        return { itemIds: items.map(({ itemId }) => itemId), isShort: false };
      },
      warm: async () => undefined,
      sampleUserIds: async (count) => Array.from({ length: count }, (_, i) => String(i + 1)),
    };
  }
}
