import { drawnUsers } from '../simulate/drawn-users.js';
import type { TierSizes } from '../simulate/node.js';
import { plainOptions, USUAL } from '../simulate/options.js';
import type { Outcome } from '../simulate/outcome.js';
import { Simulation } from '../simulate/simulation.js';
import type { MeasuredModel } from './costs.js';

export interface FleetQuestion {
  readonly recallsPerSecond: number;
  readonly appendsPerSecond: number;
  readonly users: number;
  /** Of the answer, from its arrival. */
  readonly p99Ms: number;
  /** Of a node, for keys and values. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Bytes per microsecond between a node and the store. */
  readonly linkBytesPerUs: number;
}

export interface Fleet {
  readonly nodes: number;
  readonly outcome: Outcome;
  /** Of the store; 0: none. */
  readonly sharedBytes: number;
}

const NODES_MAX = 1000;
const REQUESTS_MAX = 150_000;
const SECONDS_MAX = 600;
/** Times count once this share is over: pools are still filling. */
const WARM_UP = 0.4;
const SEED = 1;

/** True where it answers all that counts, in time. */
const holds = (outcome: Outcome, { p99Ms }: FleetQuestion): boolean =>
  outcome.answered > 0 && outcome.answer.p99Ms <= p99Ms && outcome.utilisation < 1;

/**
 * The fewest nodes whose answers are in time, by the simulator; undefined: no count up to 1,000.
 * More nodes are never slower but for the users who lie elsewhere, so halving finds it.
 */
export function leastFleet(
  model: MeasuredModel,
  question: FleetQuestion,
  hasStore: boolean,
): Fleet | undefined {
  const { costs, steps, promptTokens } = model;
  const perSecond = question.recallsPerSecond + question.appendsPerSecond;
  const workload = drawnUsers({
    users: question.users,
    zipf: USUAL.zipfPercent / 100,
    recallsPerSecond: question.recallsPerSecond,
    appendsPerSecond: question.appendsPerSecond,
    flood: 1,
    seconds: Math.min(SECONDS_MAX, REQUESTS_MAX / perSecond),
    historyTokens: Math.round(promptTokens),
    appendTokens: USUAL.appendTokens,
    sceneTokens: USUAL.sceneTokens,
    steps,
    blockTokens: USUAL.blockTokens,
    seed: SEED,
  });
  const endUs = workload.arrivals.at(-1)?.atUs ?? 0;
  const sharedBytes = hasStore ? 2 * question.users * promptTokens * costs.kvBytesPerToken : 0;
  const sizes: TierSizes = {
    memoryBytes: question.memoryBytes,
    diskBytes: question.diskBytes,
    diskBytesPerUs: USUAL.diskBytesPerUs,
    sharedBytes,
    sharedBytesPerUs: 0,
    linkBytesPerUs: question.linkBytesPerUs,
    writeBytesPerUs: USUAL.writeBytesPerUs,
  };
  const given = { sizes, seed: SEED, warmUpUs: WARM_UP * endUs };
  const run = (nodes: number): Fleet => {
    const options = Object.assign(plainOptions(workload, costs), given, { nodes });
    return { nodes, sharedBytes, outcome: new Simulation(workload, options).run() };
  };
  return least((nodes) => {
    const fleet = run(nodes);
    return { fleet, isEnough: holds(fleet.outcome, question) };
  });
}

/** By doubling, then by halving. */
export function least<T>(
  tried: (nodes: number) => { readonly fleet: T; readonly isEnough: boolean },
): T | undefined {
  let [few, many] = [0, 1];
  let found = tried(many);
  while (!found.isEnough) {
    if (many >= NODES_MAX) return undefined;
    few = many;
    many = Math.min(NODES_MAX, 2 * many);
    found = tried(many);
  }
  while (many - few > 1) {
    const middle = (few + many) >>> 1;
    const one = tried(middle);
    if (one.isEnough) {
      found = one;
      many = middle;
    } else {
      few = middle;
    }
  }
  return found.fleet;
}
