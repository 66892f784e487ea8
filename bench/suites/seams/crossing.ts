import { readFileSync } from 'node:fs';
import type { ModelShape } from '../../models/model-shape.js';
import { type Measurement, quantile } from '../../result.js';
import { BenchEngine, withEngine } from '../engine/bench-engine.js';
import type { SuiteContext } from '../suite.js';

/** Hardly any arithmetic: what is measured is the way into the engine and back. */
const SHAPE: ModelShape = {
  name: 'crossing',
  layers: 1,
  hidden: 32,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  inner: 32,
};
const CATALOGUE_ITEMS = 10_000;
const PROMPT_TOKENS = 512;
const WIDTH = 64;
const TOGETHER = 16;
const ROUNDS = 10;
const NS_PER_US = 1000;

/** Nanoseconds that Node's thread has run, without those of the engine's threads (proc(5)). */
function threadNs(): number {
  const [ran = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran);
}

/** Microseconds of Node's thread per request: the least and the median of some rounds. */
async function perRequest(requests: number, together: number, ask: () => Promise<unknown>) {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = threadNs();
    for (let at = 0; at < requests; at += together) {
      await Promise.all(Array.from({ length: together }, ask));
    }
    rounds.push((threadNs() - began) / requests / NS_PER_US);
  }
  return { least: Math.min(...rounds), median: quantile(rounds, 0.5) };
}

/** The time of Node's thread for a request, from the port of the engine to its answer. */
export async function crossing({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const options = { threadCount: 1, batchRequestsMax: TOGETHER, queueCapacity: 64 };
  const opened = BenchEngine.open(SHAPE, 'f32', options, say, CATALOGUE_ITEMS);
  return withEngine(opened, async (engine) => {
    const tokens = engine.prompt(PROMPT_TOKENS, 1);
    const recall = () => engine.recall({ tokens, width: WIDTH });
    const append = () => engine.append(tokens);
    const requests = quick ? 64 : 480;
    const rows: Measurement[] = [];
    for (const [name, ask] of Object.entries({ recall, append })) {
      for (const together of [1, TOGETHER]) {
        await perRequest(requests, together, ask); // code is compiled while it is warm
        const { least, median } = await perRequest(requests, together, ask);
        const what = `Node's thread per ${name} of ${PROMPT_TOKENS} tokens, ${together} at once`;
        rows.push(
          { name: `${what}: least of ${ROUNDS} rounds`, value: least, unit: 'us', bar: null },
          { name: `${what}: median`, value: median, unit: 'us', bar: null },
        );
      }
    }
    return rows;
  });
}
