import {
  createRecallRuntime,
  type RecallRuntime,
  type RecallRuntimeOptions,
} from '@tessera/recall';
import type { ModelCosts } from '../simulate/model-costs.js';
import { type Load, requestOf, unhurried } from './throughput.js';

/** A recall that had the machine to itself. */
export interface Timed {
  readonly promptTokens: number;
  /** Of its prompt, not found anywhere. */
  readonly computedTokens: number;
  readonly rows: number;
  readonly prefillUs: number;
  readonly decodeUs: number;
}

/** Recalls that costs are fitted to. */
const TIMED_MAX = 48;

/**
 * Least squares over two unknowns that are not negative: y = a x + b z. Where x and z say the same,
 * all of it is b's.
 */
export function fitTwo(
  samples: readonly { readonly x: number; readonly z: number; readonly y: number }[],
): readonly [a: number, b: number] {
  const sum = (of: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((total, sample) => total + of(sample), 0);
  const [xx, xz, zz] = [sum(({ x }) => x * x), sum(({ x, z }) => x * z), sum(({ z }) => z * z)];
  const [xy, zy] = [sum(({ x, y }) => x * y), sum(({ z, y }) => z * y)];
  const determinant = xx * zz - xz * xz;
  const onlyB: readonly [number, number] = [0, zz > 0 ? zy / zz : 0];
  if (determinant <= 1e-9 * xx * zz) return onlyB;
  const a = (xy * zz - zy * xz) / determinant;
  const b = (zy * xx - xy * xz) / determinant;
  if (a < 0) return onlyB;
  return b < 0 ? [xx > 0 ? xy / xx : 0, 0] : [a, b];
}

/** The simulator's costs of a model, of recalls of `steps` steps each. */
export function fitted(
  timed: readonly Timed[],
  steps: number,
  kvBytesPerToken: number,
): ModelCosts {
  const [pairUs, tokenUs] = fitTwo(
    timed.map(({ promptTokens, computedTokens, prefillUs }) => {
      const context = promptTokens - computedTokens;
      return {
        x: computedTokens * (context + computedTokens / 2),
        z: computedTokens,
        y: prefillUs,
      };
    }),
  );
  const [passUs, rowUs] = fitTwo(
    timed.map(({ promptTokens, rows, decodeUs }) => ({
      x: steps,
      z: rows,
      y: Math.max(0, decodeUs - rows * promptTokens * pairUs),
    })),
  );
  const rows = timed.reduce((sum, one) => sum + one.rows, 0) / timed.length / steps;
  return { tokenUs, pairUs, passUs, rows, rowUs, rowPairUs: pairUs, kvBytesPerToken };
}

/** Recalls of the histories, one after the other. */
async function timedRecalls(
  runtime: RecallRuntime,
  histories: Load['histories'],
  load: Pick<Load, 'widths' | 'search'>,
): Promise<readonly Timed[]> {
  const timed: Timed[] = [];
  for (const history of histories) {
    const answer = await runtime.serving.recall(requestOf(history, load), unhurried());
    const { promptTokens, kv, rows, timings } = answer;
    const computedTokens = promptTokens - kv.savedTokens;
    timed.push({
      promptTokens,
      computedTokens,
      rows,
      prefillUs: timings.prefillUs,
      decodeUs: timings.decodeUs,
    });
  }
  return timed;
}

export interface MeasuredModel {
  readonly costs: ModelCosts;
  readonly steps: number;
  /** Mean tokens of a prompt. */
  readonly promptTokens: number;
}

/** Costs of a model on this machine, by half of the histories: the others are for a check. */
export async function measuredModel(
  options: RecallRuntimeOptions,
  load: Load,
): Promise<MeasuredModel> {
  const runtime = await createRecallRuntime(options);
  try {
    const { kvBytesPerPosition, stateBytes } = runtime.facts.summary.model;
    const { depth } = runtime.facts.summary.catalogue;
    const some = load.histories.filter((_, at) => at % 2 === 0).slice(0, TIMED_MAX);
    // The first pass of each kind brings weights into the caches and buffers to their size.
    await timedRecalls(runtime, some.slice(0, 4), load);
    const timed = await timedRecalls(runtime, some, load);
    const promptTokens = timed.reduce((sum, one) => sum + one.promptTokens, 0) / timed.length;
    // A user's state is spread over the tokens of their prompt: their bytes are right in the mean.
    const kvBytesPerToken = kvBytesPerPosition + stateBytes / promptTokens;
    return { costs: fitted(timed, depth, kvBytesPerToken), steps: depth, promptTokens };
  } finally {
    await runtime.close();
  }
}
