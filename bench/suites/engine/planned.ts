import os from 'node:os';
import { MIXTURE, VOCABULARY } from '../../models/model-shape.js';
import { Random } from '../../models/random.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { BenchEngine, withEngine } from './bench-engine.js';

const ITEMS = 100_000;
const ROWS_MAX = 576;
const PASSES = { quick: 60, full: 200 };
/** The first touch memory that was not used before, and correct the fit of the start. */
const UNCOUNTED = 16;
const RECALLS = { quick: 10, full: 40 };
const WIDTH = 64;
const ERROR_BAR_PERCENT = 15;
const SEED = 31;

/** Passes of a mixture of experts: the time that was planned for them against what they took. */
export async function plannedStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threadCount = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const opened = BenchEngine.open(MIXTURE, 'bf16', { threadCount }, say, ITEMS);
  const form = quick ? 'quick' : 'full';
  return withEngine(opened, async (engine) => {
    const random = new Random(SEED);
    say(`${MIXTURE.name}: passes of 1 to ${ROWS_MAX} rows`);
    const pass = () => {
      const rows = Math.floor(ROWS_MAX ** random.uniform()) + 1;
      const tokens = Int32Array.from({ length: rows }, () => random.below(VOCABULARY));
      return errorOf(engine, () => engine.append(tokens));
    };
    const passes = await errorsOf(UNCOUNTED + PASSES[form], pass);
    say(`${MIXTURE.name}: recalls of ${WIDTH} beams`);
    const recalls = await errorsOf(RECALLS[form], (at) => {
      const tokens = engine.prompt(32 + 4 * random.below(ROWS_MAX / 4), at + 1);
      return errorOf(engine, () => engine.recall({ tokens, width: WIDTH }));
    });
    return [
      ...rows('passes of one prompt', passes.slice(UNCOUNTED), ERROR_BAR_PERCENT),
      ...rows(`passes of a recall of ${WIDTH} beams, summed`, recalls, ERROR_BAR_PERCENT),
    ];
  });
}

/** One after the other: what passes take is counted for all that run. */
async function errorsOf(count: number, next: (at: number) => Promise<number>): Promise<number[]> {
  const errors: number[] = [];
  for (let at = 0; at < count; at += 1) errors.push(await next(at));
  return errors;
}

/** Percent by which the passes of a request were planned too short (below 0) or too long. */
async function errorOf(engine: BenchEngine, request: () => Promise<unknown>): Promise<number> {
  const before = engine.stats();
  await request();
  const after = engine.stats();
  const predictedUs = after.predictedUs - before.predictedUs;
  return 100 * (predictedUs / (after.actualUs - before.actualUs) - 1);
}

function rows(what: string, errors: readonly number[], bar: number): Measurement[] {
  const name = `${MIXTURE.name} bf16, ${what}: predicted against actual`;
  const sizes = errors.map(Math.abs);
  return [
    { name: `${name}, p90`, value: quantile(sizes, 0.9), unit: '%', bar, bound: 'at-most' },
    { name: `${name}, median with sign`, value: quantile(errors, 0.5), unit: '%', bar: null },
  ];
}
