import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceClient } from '@tessera/client';
import { createRecallRuntime, type RecallRuntime, type RecallTimings } from '@tessera/recall';
import { startStack } from '../../tools/served/served-stack.js';
import { runtimeOptions } from '../../tools/terminal/model-flags.js';
import { type Measurement, quantile } from '../result.js';
import type { SuiteContext } from './suite.js';

const WARM_UP = 20;
const BUDGET_US = 60e6;
const DEADLINE_MS = 60_000;
const CONCURRENCIES = [1, 4, 16];
const GRPC_IN_FLIGHT = 16;
const USERS_MAX = 200;
const DTYPES = ['bf16', 'f32'] as const;

/** End to end on the served model: latency by stage when alone, throughput by concurrency. */
export async function recallSuite(context: SuiteContext): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const dtype of DTYPES) measurements.push(...(await inProcess(context, dtype)));
  measurements.push(...(await overGrpc(context)));
  return measurements;
}

async function inProcess(
  { quick, flags, say }: SuiteContext,
  dtype: (typeof DTYPES)[number],
): Promise<Measurement[]> {
  const options = { ...runtimeOptions(flags, () => undefined), computeType: dtype };
  const runtime = await createRecallRuntime(options);
  try {
    const users = await runtime.facts.sampleUserIds(USERS_MAX);
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
    runtime.serving.recall(
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
 * Time that the service adds to the engine's (gRPC in, features, prompt, items, gRPC out), with
 * requests arriving at an even pace that is half of what the same edge can serve. Client and
 * service share this process: the client's cost is in the figures.
 */
async function overGrpc({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const stack = await startStack(
    runtimeOptions(flags, () => undefined),
    DEADLINE_MS,
  );
  const client = new ServiceClient('tessera.recall.v1.RecallService', stack.grpcAddress);
  /** Milliseconds of a recall outside the engine. */
  const ask = async (at: number): Promise<number> => {
    const userId = stack.sampleUserIds[at % stack.sampleUserIds.length] as string;
    const started = performance.now();
    const deadline = Date.now() + DEADLINE_MS;
    const { timings } = await client.call('Recall', { userId }, { deadline });
    return performance.now() - started - (timings === undefined ? 0 : engineMs(timings));
  };
  try {
    say('gRPC: throughput');
    const fullRate = await closedLoopRate(ask, quick ? 500 : 4000);
    say(`gRPC: overhead of the service at half load, ${(fullRate / 2).toFixed(0)} recalls/s`);
    const paceMs = 2000 / fullRate;
    const overheads = await evenPace(ask, paceMs, Math.ceil((quick ? 10_000 : 60_000) / paceMs));
    return overheadRows(fullRate, overheads);
  } finally {
    client.close();
    await stack.close();
  }
}

/** Recalls per second with GRPC_IN_FLIGHT requests always under way. */
async function closedLoopRate(ask: (at: number) => Promise<number>, count: number) {
  for (let at = 0; at < WARM_UP; at += 1) await ask(at);
  let next = 0;
  const work = async () => {
    for (let at = next++; at < count; at = next++) await ask(at);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: GRPC_IN_FLIGHT }, work));
  return count / ((performance.now() - started) / 1000);
}

async function evenPace(ask: (at: number) => Promise<number>, paceMs: number, count: number) {
  const asked: Promise<number>[] = [];
  const started = performance.now();
  for (let at = 0; at < count; at += 1) {
    await sleep(Math.max(started + at * paceMs - performance.now(), 0));
    asked.push(ask(at));
  }
  return Promise.all(asked);
}

function overheadRows(fullRate: number, overheads: readonly number[]): Measurement[] {
  const row = { unit: 'ms', bound: 'at-most' as const };
  return [
    { name: 'gRPC throughput', value: fullRate, unit: 'recalls/s', bar: null },
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
