import { setTimeout as after } from 'node:timers/promises';
import { type Behaviour, BehaviourStore } from '@tessera/behaviour';
import { loadConfig } from '@tessera/config';
import { engineLimits, type KvPoolOptions, kvOptions, NativeEngine } from '@tessera/engine';
import type { RecallAnswer, RecallRuntime } from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { SHAPES } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { kvNumbersPerPosition } from '../engine/floor.js';
import type { SuiteContext } from '../suite.js';
import { composedRuntime } from './composed-runtime.js';
import { servedModel, TOKENS_PER_ITEM } from './served-model.js';

const SHAPE = SHAPES['8x512'];
const ITEMS = 320;
const CATALOGUE_ITEMS = 700;
const BLOCK_TOKENS = 32;
const BF16_BYTES = 2;
const BUDGET_MS = 60_000;
/** Of the time that a load takes when nothing hides it. */
const EXPOSED_BAR = 0.05;
/** Times of the features, as multiples of the load. */
const SLOWER = { half: 0.5, twice: 2 };

/** Users with histories of one length, which take a stated time to read. */
class SlowStore extends BehaviourStore {
  delayMs = 0;

  constructor(readonly userCount: number) {
    super();
  }

  async history(userId: string, limit: number): Promise<readonly Behaviour[]> {
    if (this.delayMs > 0) await after(this.delayMs);
    const first = 31 * Number(userId);
    const behaviours = Array.from({ length: ITEMS }, (_, i) => ({
      itemId: String(1 + ((first + 7 * i) % CATALOGUE_ITEMS)),
      action: '',
      time: i,
    }));
    return limit > 0 ? behaviours.slice(-limit) : [];
  }

  async profile(): Promise<Readonly<Record<string, string>>> {
    return {};
  }

  async userIds(limit: number): Promise<readonly string[]> {
    return Array.from({ length: Math.min(limit, this.userCount) }, (_, user) => String(user));
  }
}

/**
 * How much of a load from disk a recall does not wait for, because it begins when the request comes
 * and the features take their time beside it.
 */
export async function overlap({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const users = quick ? 8 : 24;
  const store = new SlowStore(users);
  const folder = temporaryFolder({});
  const { config } = loadConfig();
  const { vocabulary: _, ...limits } = engineLimits(config.engine);
  const engine = await NativeEngine.open({
    modelPath: servedModel(SHAPE, say),
    computeType: 'bf16',
    activationScalesPath: '',
    ...limits,
    kv: poolOptions(users, folder.path),
  });
  const runtime = await composedRuntime({
    modelPath: servedModel(SHAPE, say),
    engine,
    behaviours: store,
  });
  const visit = async (delayMs: number): Promise<RecallAnswer[]> => {
    store.delayMs = delayMs;
    const answers: RecallAnswer[] = [];
    for (const userId of await store.userIds(users)) {
      answers.push(await recall(runtime, userId));
      await stored(runtime, userId);
    }
    return answers;
  };
  try {
    say(`${users} users with ${ITEMS} items of history: first visit`);
    await visit(0);
    say('second visit, features at once');
    const atOnce = fromDisk(await visit(0));
    const loadMs = medianWait(atOnce) + medianFeatures(atOnce);
    say(`a load takes ${loadMs.toFixed(2)} ms; features of half of that, then of twice that`);
    const half = fromDisk(await visit(SLOWER.half * loadMs));
    const twice = fromDisk(await visit(SLOWER.twice * loadMs));
    return rows(loadMs, half, twice);
  } finally {
    await runtime.close();
    folder.remove();
  }
}

function recall(runtime: RecallRuntime, userId: string): Promise<RecallAnswer> {
  return runtime.serving.recall(
    {
      requestId: '',
      userId,
      profile: {},
      scene: {},
      resultCount: 4,
      widths: [4],
      itemsPerSid: 0,
      skipUnknownItems: false,
    },
    { signal: new AbortController().signal, budgetUs: BUDGET_MS * 1000 },
  );
}

/** The device holds two users, so that each is on disk alone when its turn comes again. */
function poolOptions(users: number, path: string): KvPoolOptions {
  const blockBytes = BLOCK_TOKENS * kvNumbersPerPosition(SHAPE) * BF16_BYTES;
  const blocks = Math.ceil((ITEMS * TOKENS_PER_ITEM) / BLOCK_TOKENS) + 2;
  return {
    ...kvOptions(loadConfig().config),
    versionsBackMax: 0,
    pool: 'on',
    deviceBytes: 2 * blocks * blockBytes,
    hostBytes: 0,
    diskBytes: 2 * users * blocks * blockBytes,
    path,
  };
}

/** Until the disk has all of the user: the next one pushes it off the device. */
async function stored(runtime: RecallRuntime, userId: string): Promise<void> {
  for (;;) {
    const [chain] = runtime.facts.kvPool.inspect(userId);
    if (chain === undefined || chain.durableTokens >= chain.tokens) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** @throws Error where what was to be loaded was computed or never left the device */
function fromDisk(answers: readonly RecallAnswer[]): readonly RecallAnswer[] {
  const loaded = answers.filter(
    ({ kv, promptTokens }) => (kv.tokensByTier.disk ?? 0) > promptTokens / 2,
  );
  if (2 * loaded.length >= answers.length) return loaded;
  throw new Error(`overlap: ${loaded.length} of ${answers.length} users were loaded from disk`);
}

const medianWait = (answers: readonly RecallAnswer[]) =>
  quantile(
    answers.map(({ kv }) => kv.waitUs / 1000),
    0.5,
  );

const medianFeatures = (answers: readonly RecallAnswer[]) =>
  quantile(
    answers.map(({ timings }) => (timings.featuresUs + timings.promptUs) / 1000),
    0.5,
  );

function rows(
  loadMs: number,
  half: readonly RecallAnswer[],
  twice: readonly RecallAnswer[],
): Measurement[] {
  const stem = `${SHAPE.name}, ${ITEMS * TOKENS_PER_ITEM} tokens on disk`;
  const exposed = (answers: readonly RecallAnswer[]) => ({
    value: medianWait(answers),
    unit: 'ms',
    ratio: { value: medianWait(answers) / loadMs, to: 'load' },
  });
  const features = (answers: readonly RecallAnswer[]) => medianFeatures(answers).toFixed(1);
  return [
    { name: `${stem}: load`, value: loadMs, unit: 'ms', bar: null },
    { name: `${stem}: wait beside features of ${features(half)} ms`, ...exposed(half), bar: null },
    {
      name: `${stem}: wait beside features of ${features(twice)} ms`,
      ...exposed(twice),
      bar: EXPOSED_BAR,
      bound: 'at-most',
    },
  ];
}
