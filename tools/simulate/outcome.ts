import { type LoadWindows, variance } from './load-windows.js';

export type Refusal = 'first-step' | 'answers' | 'wasted' | 'no-node';

/** Means and quantiles in milliseconds. */
export interface Times {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
}

export interface Outcome {
  readonly arrived: number;
  readonly answered: number;
  readonly appended: number;
  /** By cause: `wasted` after the prompt was computed, all others at arrival. */
  readonly refused: Readonly<Record<Refusal, number>>;
  /** Requests that a dying node had, which began again elsewhere. */
  readonly repeated: number;
  /** Of prompts that were computed. */
  readonly tokens: Readonly<Record<'memory' | 'disk' | 'shared' | 'computed', number>>;
  /** From arrival until the first step can begin. */
  readonly firstStep: Times;
  /** From arrival to the last step. */
  readonly answer: Times;
  readonly seconds: number;
  readonly utilisation: number;
  readonly storeReadBytes: number;
  readonly storeWrittenBytes: number;
  /** Over windows of ten seconds: share of time with prompts, answers under way over the most. */
  readonly promptVariance: number;
  readonly answerVariance: number;
}

function timesOf(us: readonly number[]): Times {
  const sorted = us.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0) / 1000;
  const sum = sorted.reduce((total, value) => total + value, 0);
  return {
    count: sorted.length,
    meanMs: sorted.length === 0 ? 0 : sum / sorted.length / 1000,
    p50Ms: at(0.5),
    p90Ms: at(0.9),
    p99Ms: at(0.99),
  };
}

/** Counts while the simulation goes on. */
export class Tally {
  arrived = 0;
  answered = 0;
  appended = 0;
  repeated = 0;
  readonly refused: Record<Refusal, number> = {
    'first-step': 0,
    answers: 0,
    wasted: 0,
    'no-node': 0,
  };
  readonly tokens = { memory: 0, disk: 0, shared: 0, computed: 0 };
  readonly firstUs: number[] = [];
  readonly answerUs: number[] = [];

  outcome(ended: {
    readonly endUs: number;
    readonly lastArrivalUs: number;
    readonly busyUs: number;
    readonly nodes: number;
    readonly storeReadBytes: number;
    readonly storeWrittenBytes: number;
    readonly prompts: { readonly windows: LoadWindows; readonly capacity: number };
    readonly answers: { readonly windows: LoadWindows; readonly capacity: number };
  }): Outcome {
    const { prompts, answers, endUs, nodes } = ended;
    const loadOf = ({ windows, capacity }: typeof prompts) =>
      variance(windows.loads(ended.lastArrivalUs, capacity));
    return {
      arrived: this.arrived,
      answered: this.answered,
      appended: this.appended,
      refused: this.refused,
      repeated: this.repeated,
      tokens: this.tokens,
      firstStep: timesOf(this.firstUs),
      answer: timesOf(this.answerUs),
      seconds: endUs / 1e6,
      utilisation: endUs === 0 ? 0 : ended.busyUs / endUs / nodes,
      storeReadBytes: ended.storeReadBytes,
      storeWrittenBytes: ended.storeWrittenBytes,
      promptVariance: loadOf(prompts),
      answerVariance: loadOf(answers),
    };
  }
}
