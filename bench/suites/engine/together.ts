import { LEVELS, SHAPES, type ShapeName } from '../../models/model-shape.js';
import type { Measurement } from '../../result.js';
import { BenchEngine, withEngine } from './bench-engine.js';
import { floorSeconds, headWork, prefillWork, stepWork } from './floor.js';
import { closedLoop } from './in-flight.js';
import type { Machine } from './machine.js';
import type { StageContext } from './stage.js';

const PROMPT_TOKENS = 512;
const WIDTH = 64;
/** The larger shape takes seconds for each recall. */
const IN_FLIGHT: Readonly<Record<ShapeName, readonly number[]>> = {
  '8x512': [1, 4, 16],
  'qwen3-0.6b': [4],
  'qwen3.5-0.8b': [4],
};
const MILLISECONDS = { quick: 2000, full: 5000 };
const BATCH_REQUESTS = 16;

/** Recalls of several users at once share passes: time per recall against the floor. */
export async function togetherStage(context: StageContext): Promise<Measurement[]> {
  const { quick, machine, say } = context;
  const measurements: Measurement[] = [];
  for (const name of context.shapes) {
    for (const computeType of context.computeTypes) {
      const options = { threadCount: machine.threads, batchRequestsMax: BATCH_REQUESTS };
      const opened = BenchEngine.open(SHAPES[name], computeType, options, say);
      const measure = async (engine: BenchEngine) => {
        for (const users of IN_FLIGHT[name]) {
          say(`${name} ${computeType}: ${users} recalls in flight`);
          const rate = await recallsPerSecond(engine, users, quick);
          measurements.push(row(engine, users, rate, machine));
        }
      };
      await withEngine(opened, measure);
    }
  }
  return measurements;
}

function recallsPerSecond(engine: BenchEngine, users: number, quick: boolean): Promise<number> {
  return closedLoop(users, quick ? MILLISECONDS.quick : MILLISECONDS.full, (at) =>
    engine.recall({ tokens: engine.prompt(PROMPT_TOKENS, 1000 * users + at), width: WIDTH }),
  );
}

function row(engine: BenchEngine, users: number, rate: number, machine: Machine): Measurement {
  const { shape, format, computeType } = engine;
  const peaks = machine.peaks(computeType);
  const step = stepWork(shape, { users, width: WIDTH, promptTokens: PROMPT_TOKENS }, format);
  const head = (rows: number) => headWork(shape, { rows, isFull: true }, format);
  const steps =
    (LEVELS - 1) * (floorSeconds(step, peaks) + floorSeconds(head(users * WIDTH), peaks));
  const prefill = users * floorSeconds(prefillWork(shape, PROMPT_TOKENS, format), peaks);
  const floor = (prefill + steps + floorSeconds(head(users), peaks)) / users;
  const prefix = `${shape.name} ${computeType}, prompt ${PROMPT_TOKENS}, width ${WIDTH}`;
  return {
    name: `${prefix}, ${users} in flight`,
    value: rate,
    unit: 'recalls/s',
    ratio: { value: 1 / (rate * floor), to: 'floor' },
    bar: null,
  };
}
