import { queueCapacityFor } from '@tessera/engine';
import { createRecallRuntime, type RecallRuntimeOptions } from '@tessera/recall';
import type { Arrival } from '../simulate/arrival.js';
import { stepUs } from '../simulate/model-costs.js';
import { plainOptions, USUAL } from '../simulate/options.js';
import { seeded, untilNextUs } from '../simulate/seeded.js';
import { Simulation } from '../simulate/simulation.js';
import type { MeasuredModel } from './costs.js';
import { type Load, requestOf, unhurried } from './throughput.js';

/** Of a node's time that the check asks for. */
const USED = 0.6;
const LEAST_REQUESTS = 30;
const SEED = 7;

export interface HeldOut {
  readonly perSecond: number;
  readonly predicted: { readonly p50Ms: number; readonly p99Ms: number };
  readonly measured: { readonly p50Ms: number; readonly p99Ms: number };
}

/**
 * The simulator against this machine at a load that no cost was fitted to: histories that were
 * left out, at Poisson times, each prompt computed whole.
 */
export async function heldOut(
  options: RecallRuntimeOptions,
  load: Load,
  model: MeasuredModel,
): Promise<HeldOut> {
  const { costs, steps } = model;
  const times = timesOf(model, load.seconds);
  // Where others keep the machine busy all of them wait at once.
  const queueCapacity = Math.max(options.engine.queueCapacity, queueCapacityFor(times.length));
  const engine = Object.assign({}, options.engine, { queueCapacity });
  const runtime = await createRecallRuntime(Object.assign({}, options, { engine }));
  try {
    const others = load.histories.filter((_, at) => at % 2 === 1);
    const histories = others.length > 0 ? others : load.histories;
    const answers = await openLoop(times, (at) => {
      const whole = histories[at % histories.length] ?? [];
      const history = whole.slice(Math.floor(at / histories.length) % Math.max(1, whole.length));
      return runtime.serving.recall(requestOf(history, load), unhurried());
    });
    const arrivals = answers.map(({ answer }, at): Arrival => {
      const tokens = answer.promptTokens;
      return {
        atUs: times[at] ?? 0,
        kind: 'recall',
        user: '',
        promptTokens: tokens,
        steps,
        blocks: [],
      };
    });
    const workload = { name: 'held out', arrivals, blockTokens: USUAL.blockTokens };
    const outcome = new Simulation(workload, plainOptions(workload, costs)).run();
    const measured = answers.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) => measured[Math.ceil(share * measured.length) - 1] ?? 0;
    const { p50Ms, p99Ms } = outcome.answer;
    return {
      perSecond: (times.length * 1e6) / (times.at(-1) ?? 1),
      predicted: { p50Ms, p99Ms },
      measured: { p50Ms: at(0.5), p99Ms: at(0.99) },
    };
  } finally {
    await runtime.close();
  }
}

/** Poisson times of recalls that ask for `USED` of a node's time, microseconds. */
function timesOf({ costs, steps, promptTokens }: MeasuredModel, seconds: number): number[] {
  const ofPrompt = promptTokens * (costs.tokenUs + (promptTokens / 2) * costs.pairUs);
  const ofAnswer = steps * (costs.passUs + stepUs(costs, promptTokens));
  const perSecond = (USED * 1e6) / (ofPrompt + ofAnswer);
  const count = Math.max(LEAST_REQUESTS, Math.ceil(perSecond * seconds * 4));
  const random = seeded(SEED);
  let atUs = 0;
  return Array.from({ length: count }, () => {
    atUs += untilNextUs(random, perSecond);
    return atUs;
  });
}

/** Begins a call at each time, whatever the others do; milliseconds from that time on. */
async function openLoop<T>(timesUs: readonly number[], call: (at: number) => Promise<T>) {
  const begunMs = performance.now();
  return Promise.all(
    timesUs.map(async (us, at) => {
      const dueMs = begunMs + us / 1000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      const answer = await call(at);
      return { answer, ms: performance.now() - dueMs };
    }),
  );
}
