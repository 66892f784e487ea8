import type { Workload } from './arrival.js';
import { computeUs } from './load-plan.js';
import { type ModelCosts, stepUs } from './model-costs.js';
import type { TierSizes } from './node.js';
import type { PolicyName } from './policies.js';

/**
 * All but `none` refuse a request at arrival whose first step would be late, and one with a
 * complete prompt that finds no place for its answer in time. `present` refuses at arrival too
 * where all places are taken then; `predicted` where none will be free in time.
 */
export const ADMISSIONS = ['none', 'late', 'present', 'predicted'] as const;
export type Admission = (typeof ADMISSIONS)[number];

export interface SimulationOptions {
  /** Nodes that compute prompts; all of them answer too where `answerNodes` is 0. */
  readonly nodes: number;
  readonly answerNodes: number;
  readonly costs: ModelCosts;
  readonly sizes: TierSizes;
  readonly policy: PolicyName;
  readonly admission: Admission;
  /** From arrival to the first step. */
  readonly firstLimitUs: number;
  /** Answers that a node decodes at once within the limit of a step. */
  readonly answersMax: number;
  /** A recall that lacks more tokens than this is computed apart from its answer. */
  readonly splitTokens: number;
  /** Nodes that die, each with all it keeps. */
  readonly deaths: readonly { readonly node: number; readonly atUs: number }[];
  readonly seed: number;
  /** Times of requests that arrive before are not counted: pools are still filling. */
  readonly warmUpUs: number;
  /** Blocks that a plan has copied to every node before the first request. */
  readonly planned: ReadonlySet<number>;
}

/** A user's requests, and the rates of a node's tiers, where nothing says otherwise. */
export const USUAL = {
  zipfPercent: 110,
  appendTokens: 32,
  sceneTokens: 16,
  blockTokens: 32,
  /** Rate of an NVMe disk; megabytes a second are bytes a microsecond. */
  diskBytesPerUs: 2000,
  linkBytesPerUs: 1250,
  writeBytesPerUs: 200,
} as const;

const NO_TIERS: TierSizes = {
  memoryBytes: 0,
  diskBytes: 0,
  diskBytesPerUs: 0,
  sharedBytes: 0,
  sharedBytesPerUs: 0,
  linkBytesPerUs: 0,
  writeBytesPerUs: 0,
};

/** One node without tiers, which refuses no request; a simulation names what it changes. */
export function plainOptions(workload: Workload, costs: ModelCosts): SimulationOptions {
  return {
    nodes: 1,
    answerNodes: 0,
    costs,
    sizes: NO_TIERS,
    policy: 'router',
    admission: 'none',
    firstLimitUs: defaultFirstLimitUs(workload, costs),
    answersMax: defaultAnswersMax(workload, costs),
    splitTokens: 0,
    deaths: [],
    seed: 1,
    warmUpUs: 0,
    planned: new Set(),
  };
}

/** Published objectives: the first step within 10 times of unloaded, a step within 5. */
const FIRST_STEP_FACTOR = 10;
const STEP_FACTOR = 5;

/** Of a workload's mean prompt, computed alone and from nothing. */
export function defaultFirstLimitUs({ arrivals }: Workload, costs: ModelCosts): number {
  let sum = 0;
  for (const { promptTokens } of arrivals) sum += computeUs(0, promptTokens, costs);
  return (FIRST_STEP_FACTOR * sum) / arrivals.length;
}

/** Answers behind the workload's mean prompt whose steps take five times one's alone. */
export function defaultAnswersMax({ arrivals }: Workload, costs: ModelCosts): number {
  let tokens = 0;
  for (const { promptTokens } of arrivals) tokens += promptTokens;
  const us = stepUs(costs, tokens / arrivals.length);
  return Math.max(1, Math.floor((STEP_FACTOR * (costs.passUs + us) - costs.passUs) / us));
}
