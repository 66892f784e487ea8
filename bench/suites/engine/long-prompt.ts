import { SHAPES } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { BenchEngine, type OpenOptions, withEngine } from './bench-engine.js';
import type { ComputeType } from './machine.js';
import type { StageContext } from './stage.js';

const COMPUTE_TYPE: ComputeType = 'bf16';
const LONG_TOKENS = 2048;
const SHORT = { tokens: 64, width: 16 };
const LONG_WIDTH = 32;
const REPETITIONS = { quick: 2, full: 6 };
const ALONE = 20;

const UNCHUNKED: OpenOptions = {
  prefillChunkTokens: LONG_TOKENS,
  batchRowsMax: 2 * LONG_TOKENS,
  passTimeTargetUs: 0,
};
const MODES: readonly { readonly name: string; readonly options: OpenOptions }[] = [
  { name: 'in passes of bounded time', options: {} },
  { name: 'in chunks of 512', options: { prefillChunkTokens: 512, passTimeTargetUs: 0 } },
  { name: 'in chunks of 128', options: { prefillChunkTokens: 128, passTimeTargetUs: 0 } },
  { name: 'in one pass', options: UNCHUNKED },
];

/** The delay of short recalls that arrive while a long prompt is computed. */
export async function longPromptStage({
  quick,
  machine,
  say,
}: StageContext): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const { name, options } of MODES) {
    say(`a prompt of ${LONG_TOKENS} tokens ${name}`);
    const opened = BenchEngine.open(
      SHAPES['8x512'],
      COMPUTE_TYPE,
      { ...options, threadCount: machine.threads },
      say,
    );
    const repetitions = quick ? REPETITIONS.quick : REPETITIONS.full;
    const { alone, beside } = await withEngine(opened, (engine) => measure(engine, repetitions));
    measurements.push(...rows(name, alone, beside));
  }
  return measurements;
}

interface Latencies {
  readonly alone: readonly number[];
  /** Of short recalls that arrived while a long prompt was computed. */
  readonly beside: readonly number[];
}

async function measure(engine: BenchEngine, repetitions: number): Promise<Latencies> {
  let seed = 5000;
  const short = async (): Promise<number> => {
    const started = performance.now();
    const tokens = engine.prompt(SHORT.tokens, seed++);
    await engine.recall({ tokens, width: SHORT.width });
    return performance.now() - started;
  };
  const alone: number[] = [];
  while (alone.length < ALONE) alone.push(await short());
  const beside: number[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    let isRunning = true;
    const tokens = engine.prompt(LONG_TOKENS, seed++);
    const long = engine.recall({ tokens, width: LONG_WIDTH }).finally(() => {
      isRunning = false;
    });
    while (isRunning) beside.push(await short());
    await long;
  }
  return { alone, beside };
}

function rows(mode: string, alone: readonly number[], beside: readonly number[]): Measurement[] {
  const base = quantile(alone, 0.5);
  const row = (name: string, value: number): Measurement => ({
    name: `prompt of ${LONG_TOKENS} ${mode}: short recalls, ${name}`,
    value,
    unit: 'ms',
    ratio: { value: value / base, to: 'alone' },
    bar: null,
  });
  return [
    row('alone, median', base),
    row('beside it, median', quantile(beside, 0.5)),
    row('beside it, longest', Math.max(...beside)),
  ];
}
