import { setTimeout as sleep } from 'node:timers/promises';
import { createRecallRuntime, type RecallRuntime, type RecallTimings } from '@tessera/recall';
import { RecallClient } from '../../tools/served/recall-client.js';
import { startStack } from '../../tools/served/served-stack.js';
import { runtimeOptions } from '../../tools/terminal/model-flags.js';
import { type Measurement, quantile } from '../result.js';
import type { SuiteContext } from './suite.js';

const WARM_UP = 20;
const BUDGET_US = 60e6;
const DEADLINE_MS = 60_000;
const CONCURRENCIES = [1, 4, 16];
const USERS_MAX = 200;
const DTYPES = ['bf16', 'f32'] as const;

/** End to end on the served model: latency by stage when alone, throughput by concurrency. */
export async function recallSuite(context: SuiteContext): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const dtype of DTYPES) measurements.push(...(await inProcess(context, dtype)));
  const rates = measurements.filter(({ name }) => name.startsWith(`${DTYPES[0]} throughput`));
  const fullRate = Math.max(...rates.map(({ value }) => value));
  measurements.push(...(await overGrpc(context, fullRate)));
  return measurements;
}

async function inProcess(
  { quick, flags, say }: SuiteContext,
  dtype: (typeof DTYPES)[number],
): Promise<Measurement[]> {
  const options = { ...runtimeOptions(flags, () => undefined), computeType: dtype };
  const runtime = await createRecallRuntime(options);
  try {
    const users = await runtime.sampleUserIds(USERS_MAX);
    if (users.length === 0)
      throw new Error('the recall suite needs a model folder with users.json');
    say(`${dtype}: one recall at a time`);
    const alone = await recallAll(runtime, users, 1, quick ? 200 : 2000);
    const measurements = stages(dtype, alone.timings);
    for (const concurrency of CONCURRENCIES) {
      say(`${dtype}: ${concurrency} recalls in flight`);
      const { seconds, timings } = await recallAll(runtime, users, concurrency, quick ? 400 : 4000);
      measurements.push({
        name: `${dtype} throughput at concurrency ${concurrency}`,
        value: timings.length / seconds,
        unit: 'recalls/s',
        bar: null,
      });
    }
    return measurements;
  } finally {
    await runtime.close();
  }
}

function stages(dtype: string, timings: readonly RecallTimings[]): Measurement[] {
  const names = Object.keys(timings[0] ?? {}) as (keyof RecallTimings)[];
  const medians = names.map((name) => ({
    name: `${dtype} alone, ${name.replace(/Us$/, '')}, median`,
    value: quantile(
      timings.map((timing) => timing[name]),
      0.5,
    ),
    unit: 'us',
    bar: null,
  }));
  const totals = timings.map((timing) => timing.totalUs);
  const last = { name: `${dtype} alone, total, p99`, unit: 'us', bar: null };
  return [...medians, { ...last, value: quantile(totals, 0.99) }];
}

async function recallAll(
  runtime: RecallRuntime,
  users: readonly string[],
  concurrency: number,
  count: number,
): Promise<{ timings: RecallTimings[]; seconds: number }> {
  const ask = (at: number) =>
    runtime.recall(
      {
        requestId: 'bench',
        userId: users[at % users.length] as string,
        profile: {},
        scene: {},
        resultCount: 0,
        widths: [],
        itemsPerSid: 0,
        skipUnknownItems: false,
      },
      { signal: new AbortController().signal, budgetUs: BUDGET_US },
    );
  for (let at = 0; at < WARM_UP; at += 1) await ask(at);
  const timings: RecallTimings[] = [];
  const started = performance.now();
  let next = 0;
  const work = async () => {
    for (let at = next++; at < count; at = next++) timings.push((await ask(at)).timings);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { timings, seconds: (performance.now() - started) / 1000 };
}

/**
 * What the service adds to the engine's time (gRPC in, features, prompt, items, gRPC out), with
 * requests arriving at an even pace that is half of what the engine can do.
 */
async function overGrpc(
  { quick, flags, say }: SuiteContext,
  fullRate: number,
): Promise<Measurement[]> {
  const paceMs = 2000 / fullRate;
  const count = Math.ceil((quick ? 10_000 : 60_000) / paceMs);
  say(`gRPC: overhead of the service at half load, ${(1000 / paceMs).toFixed(0)} recalls/s`);
  const stack = await startStack(
    runtimeOptions(flags, () => undefined),
    DEADLINE_MS,
  );
  const client = new RecallClient(stack.grpcAddress);
  const overheads: number[] = [];
  const ask = async (at: number) => {
    const userId = stack.sampleUserIds[at % stack.sampleUserIds.length] as string;
    const started = performance.now();
    const { timings } = await client.recall({ userId }, DEADLINE_MS);
    const wallMs = performance.now() - started;
    if (timings !== undefined && at >= WARM_UP) overheads.push(wallMs - engineMs(timings));
  };
  try {
    const asked: Promise<void>[] = [];
    const started = performance.now();
    for (let at = 0; at < count; at += 1) {
      await sleep(Math.max(started + at * paceMs - performance.now(), 0));
      asked.push(ask(at));
    }
    await Promise.all(asked);
  } finally {
    client.close();
    await stack.close();
  }
  const row = { unit: 'ms', bound: 'at-most' as const };
  return [
    {
      ...row,
      name: 'service overhead at half load, median',
      value: quantile(overheads, 0.5),
      bar: 1,
    },
    {
      ...row,
      name: 'service overhead at half load, p99',
      value: quantile(overheads, 0.99),
      bar: 3,
    },
  ];
}

/** From the hand-over to the engine until the items are described. */
function engineMs({ totalUs, featuresUs, promptUs }: RecallTimings): number {
  return (totalUs - featuresUs - promptUs) / 1000;
}
