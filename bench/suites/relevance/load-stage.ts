import { type PairWork, type SplitNode, splitWork } from '@tessera/routing';
import { Random } from '../../models/random.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';

const NODES = [2, 4];
const LOADS = [0.4, 0.7];
const CALLS = { quick: 1500, full: 6000 };
/** Documents of a call. */
const LEAST = 10;
const SPREAD = 7;
const LENGTHS = { median: 70, spread: 0.8, least: 6, most: 900 };
/** What prompts begin with, and what a part costs anyway: an eighth of a call is computed again. */
const SHARED_TOKENS = 120;
const RATES = { tokenUs: 60, pairUs: 0.01, partUs: 4000 };
const SEED = 1;

interface Arrival {
  readonly atUs: number;
  readonly work: PairWork;
  /** As one part. */
  readonly wholeUs: number;
}

interface Asked {
  readonly node: number;
  readonly us: number;
}

/** A node computes its parts one behind the other. */
interface Queue {
  freeAtUs: number;
  /** When its parts end, those that have not, the next first. */
  ends: number[];
}

type Way = (arrival: Arrival, queues: readonly Queue[], index: number) => readonly Asked[];

const roundRobin: Way = ({ wholeUs }, queues, index) => [
  { node: index % queues.length, us: wholeUs },
];

const leastConnections: Way = ({ wholeUs }, queues) => {
  const counts = queues.map(({ ends }) => ends.length);
  return [{ node: counts.indexOf(Math.min(...counts)), us: wholeUs }];
};

const bySplit: Way = ({ atUs, work }, queues) =>
  splitWork(
    work,
    queues.map(({ freeAtUs }): SplitNode => {
      return Object.assign({ backlogUs: Math.max(0, freeAtUs - atUs) }, RATES);
    }),
  );

/** Calls at a share of what all nodes can do whole, dealt out in three ways; simulated. */
export async function loadStage({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const count = quick ? CALLS.quick : CALLS.full;
  return NODES.flatMap((nodes) =>
    LOADS.flatMap((load) => {
      say(`${count} calls at ${load} of what ${nodes} nodes can do, simulated`);
      const arrivals = arrivalsAt(load * nodes, count);
      const p99 = (way: Way) => quantile(latenciesMs(arrivals, nodes, way), 0.99);
      const split = p99(bySplit);
      const name = `calls at ${100 * load} % of ${nodes} nodes, simulated, p99`;
      const row = { name, value: split, unit: 'ms', bar: null };
      const over = (to: string, way: Way) => {
        return Object.assign({ ratio: { value: split / p99(way), to } }, row);
      };
      return [over('round robin', roundRobin), over('least connections', leastConnections)];
    }),
  );
}

/** Poisson arrivals of so much work a unit of time. */
function arrivalsAt(load: number, count: number): readonly Arrival[] {
  const random = new Random(SEED);
  const works = Array.from({ length: count }, () => {
    const tokens = Array.from({ length: LEAST + random.below(SPREAD) }, () =>
      random.length(LENGTHS),
    );
    return { sharedTokens: SHARED_TOKENS, tokens, common: tokens.map(() => 0) };
  });
  const wholes = works.map((work) => {
    const [part] = splitWork(work, [Object.assign({ backlogUs: 0 }, RATES)]);
    return part?.us ?? 0;
  });
  const gapUs = wholes.reduce((sum, us) => sum + us, 0) / count / load;
  let atUs = 0;
  return works.map((work, i) => {
    atUs -= Math.log(1 - random.uniform()) * gapUs;
    return { atUs, work, wholeUs: wholes[i] as number };
  });
}

function latenciesMs(arrivals: readonly Arrival[], nodes: number, way: Way): readonly number[] {
  const queues: readonly Queue[] = Array.from({ length: nodes }, () => ({ freeAtUs: 0, ends: [] }));
  return arrivals.map((arrival, index) => {
    const { atUs } = arrival;
    for (const queue of queues) queue.ends = queue.ends.filter((endUs) => endUs > atUs);
    let lastUs = atUs;
    for (const { node, us } of way(arrival, queues, index)) {
      const queue = queues[node] as Queue;
      queue.freeAtUs = Math.max(atUs, queue.freeAtUs) + us;
      queue.ends.push(queue.freeAtUs);
      lastUs = Math.max(lastUs, queue.freeAtUs);
    }
    return (lastUs - atUs) / 1000;
  });
}
