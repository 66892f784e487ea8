import { tmpdir } from 'node:os';
import type { KvPoolOptions } from '@tessera/engine';
import type { ModelShape } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { BenchEngine, withEngine } from '../engine/bench-engine.js';
import type { SuiteContext } from '../suite.js';

/** Keys and values as large as those of Qwen3-0.6B, and hardly any arithmetic beside attention. */
const KV_SHAPE: ModelShape = {
  name: 'kv-of-0.6b',
  layers: 28,
  hidden: 32,
  heads: 16,
  kvHeads: 8,
  headDim: 128,
  inner: 32,
};
const PROMPT_TOKENS = 2000;
/** Of these, kept from earlier visits: the last block is shared and not full, so it is copied. */
const KEPT_TOKENS = 1950;
const USERS = 4;
const DEVICE_BYTES = 3 * 2 ** 30;
const SMALL_IN_FLIGHT = 64;
const BATCH_REQUESTS = 128;
const WARM_UP_MS = 3000;
/** Milliseconds, of the percentile below. */
const BAR_MS = 0.2;
const SHARE = 0.999;

const KV: KvPoolOptions = {
  pool: 'on',
  deviceBytes: DEVICE_BYTES,
  hostBytes: 0,
  diskBytes: 0,
  path: tmpdir(),
  blockCodec: 'exact',
  versionsBackMax: 0,
  eviction: 'lru',
  readThreads: 2,
  storeQueueMax: 1024,
  prefetchQueueMax: 256,
  memory: 'pageable',
};

const CALLS = ['submit', 'cancel', 'prefetch', 'stats', 'nothing'] as const;
type Call = (typeof CALLS)[number];

/** How long calls keep Node's thread, milliseconds each. */
class Kept {
  readonly times: Readonly<Record<Call, number[]>> = {
    submit: [],
    cancel: [],
    prefetch: [],
    stats: [],
    nothing: [],
  };

  during<T>(call: Call, work: () => T): T {
    const started = performance.now();
    try {
      return work();
    } finally {
      this.times[call].push(performance.now() - started);
    }
  }
}

/** The time that a call to the engine takes Node's thread, while long prompts are admitted. */
export async function submitting({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const options = {
    threadCount: 1,
    kv: KV,
    kvBytesMax: DEVICE_BYTES,
    batchRequestsMax: BATCH_REQUESTS,
    queueCapacity: 1024,
  };
  const opened = BenchEngine.open(KV_SHAPE, 'bf16', options, say, 10_000);
  const kept = new Kept();
  const admitted = await withEngine(opened, async (engine) => {
    say(`${USERS} users with ${KEPT_TOKENS} tokens each`);
    for (let user = 0; user < USERS; user += 1) {
      await engine.append(visit(engine, user, 0), useOf(user));
    }
    say('calls while their prompts are let in');
    await disturb(engine, new Kept(), WARM_UP_MS); // code is compiled while it is warm
    return await disturb(engine, kept, quick ? 15_000 : 60_000);
  });
  const name = `Node's thread, prompts of ${PROMPT_TOKENS} tokens admitted`;
  return [
    { name: `${name}: recalls`, value: admitted, unit: 'recalls', bar: null },
    ...CALLS.flatMap((call) => {
      const times = kept.times[call];
      const row = (what: string, value: number) => ({ name: `${name}: ${call}, ${what}`, value });
      return [
        { ...row('calls', times.length), unit: 'calls', bar: null },
        { ...row('median', quantile(times, 0.5)), unit: 'ms', bar: null },
        {
          ...row('99.9th percentile', quantile(times, SHARE)),
          unit: 'ms',
          bar: call === 'nothing' ? null : BAR_MS,
          bound: 'at-most' as const,
        },
        { ...row('longest', Math.max(...times)), unit: 'ms', bar: null },
      ];
    }),
  ];
}

const useOf = (user: number) => ({
  userId: `user ${user}`,
  prefixTokens: 0,
  keepTokens: KEPT_TOKENS,
});

/** The user's behaviours so far, then the part that differs at each visit. */
function visit(engine: BenchEngine, user: number, at: number): Int32Array {
  const tokens = engine.prompt(PROMPT_TOKENS, 9000 + user).slice();
  const scene = engine.prompt(PROMPT_TOKENS - KEPT_TOKENS, 70_000 + 100 * at + user);
  tokens.set(scene, KEPT_TOKENS);
  return tokens;
}

/** Each user recalls again and again; meanwhile all other calls are made. Recalls made. */
async function disturb(engine: BenchEngine, kept: Kept, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  let recalls = 0;
  const recalling = async (user: number): Promise<void> => {
    while (performance.now() < end) {
      const ask = { tokens: visit(engine, user, recalls), width: 1, kv: useOf(user) };
      const answer = await kept.during('submit', () => engine.recall(ask));
      if (answer.kv.deviceTokens === 0) throw new Error(`user ${user}: expected a hit, got none`);
      recalls += 1;
    }
  };
  await Promise.all([
    ...Array.from({ length: USERS }, (_, user) => recalling(user)),
    callAll(engine, kept, end),
  ]);
  return recalls;
}

async function callAll(engine: BenchEngine, kept: Kept, end: number): Promise<void> {
  const small = engine.prompt(1, 1);
  const source = engine.prompt(PROMPT_TOKENS, 2);
  const underWay = new Set<Promise<void>>();
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    kept.during('stats', () => engine.stats());
    kept.during('nothing', () => source.slice());
    const prefetch = kept.during('prefetch', () => engine.prefetch('nobody'));
    kept.during('cancel', () => prefetch.release());
    if (underWay.size >= SMALL_IN_FLIGHT) continue;
    const asked = kept.during('submit', () => engine.append(small));
    const ended = asked.finally(() => underWay.delete(ended));
    underWay.add(ended);
  }
  await Promise.all(underWay);
}
