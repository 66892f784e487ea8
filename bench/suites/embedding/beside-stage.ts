import os from 'node:os';
import { SHAPES } from '../../models/model-shape.js';
import { MINILM, randomEncoder } from '../../models/random-encoder.js';
import type { Measurement } from '../../result.js';
import { BenchEngine, withEngine } from '../engine/bench-engine.js';
import { type Arrivals, closedLoop, openLoop } from '../engine/in-flight.js';
import type { SuiteContext } from '../suite.js';
import { type Beside, besideRows } from './beside-rows.js';
import { openOwn } from './own-models.js';
import { drawTexts } from './texts.js';

const ITEMS = 100_000;
const PROMPT_TOKENS = 128;
const WIDTH = 32;
/** Recalls arrive at this share of what the engine does one at a time: few wait for each other. */
const RECALL_SHARE = 0.3;
const REQUEST_TEXTS = 16;
/** Requests of texts that are under way where there are always some. */
const IN_FLIGHT = 2;
const TEXT_DRAWS = 32;
const TURN_MS = { quick: 2500, full: 12_000 };
const ROUNDS = { quick: 6, full: 10 };
const SEED = 400;

type Ask = (at: number) => Promise<unknown>;

/** Requests of texts a second, while recalls arrive: `most` is what they reach alone. */
type Load = (most: number, milliseconds: number, seed: number, ask: Ask) => Promise<number>;

const LOADS: Readonly<Record<string, Load>> = {
  alone: () => Promise.resolve(0),
  'beside texts at half of their rate': async (most, milliseconds, seed, ask) =>
    (await openLoop(most / 2, milliseconds, seed, ask)).rate,
  'beside texts without a pause': (_most, milliseconds, _seed, ask) =>
    closedLoop(IN_FLIGHT, milliseconds, ask),
};

/** Recalls alone and beside texts that become vectors in the same process, by turns. */
export async function besideStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threadCount = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const setting = { modelPath: randomEncoder(MINILM, say), threads: threadCount };
  const texts = await openOwn(setting, 'f32');
  const requests = Array.from({ length: TEXT_DRAWS }, (_, seed) =>
    drawTexts(REQUEST_TEXTS, seed).map(({ text }) => text),
  );
  const embed: Ask = (at) => {
    const own = requests[at % TEXT_DRAWS] ?? [];
    return texts.embed({ model: '', texts: own, dimensions: undefined });
  };
  try {
    const opened = BenchEngine.open(SHAPES['8x512'], 'bf16', { threadCount }, say, ITEMS);
    return await withEngine(opened, async (engine) => {
      const recall: Ask = (at) => {
        const tokens = engine.prompt(PROMPT_TOKENS, SEED + at);
        return engine.recall({ tokens, width: WIDTH });
      };
      const milliseconds = TURN_MS[form];
      // The first touch is slower.
      await closedLoop(1, milliseconds / 4, recall);
      const recallsMost = await closedLoop(1, milliseconds, recall);
      await closedLoop(IN_FLIGHT, milliseconds / 4, embed);
      const textsMost = await closedLoop(IN_FLIGHT, milliseconds, embed);
      say(`alone: ${recallsMost.toFixed(1)} recalls/s, ${textsMost.toFixed(1)} requests/s`);
      const all = await byTurns(ROUNDS[form], say, async (load, round) => {
        const [requestRate, arrivals] = await Promise.all([
          load(textsMost, milliseconds, SEED + round, embed),
          openLoop(RECALL_SHARE * recallsMost, milliseconds, round, recall),
        ]);
        return { arrivals, textRate: REQUEST_TEXTS * requestRate };
      });
      const name = `texts alone, ${REQUEST_TEXTS} a request`;
      const most = { name, value: REQUEST_TEXTS * textsMost, unit: 'texts/s', bar: null };
      return [...besideRows(all), most];
    });
  } finally {
    texts.close();
  }
}

interface Turn {
  readonly arrivals: Arrivals;
  readonly textRate: number;
}

/** The order of the loads goes round; recalls arrive at the same times under each in a round. */
async function byTurns(
  rounds: number,
  say: (line: string) => void,
  run: (load: Load, round: number) => Promise<Turn>,
): Promise<Beside[]> {
  const loads = Object.entries(LOADS).map(([name, load]) => ({
    load,
    beside: { load: name, turns: [] as Arrivals[], textRates: [] as number[] },
  }));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % loads.length;
    for (const { load, beside } of [...loads.slice(first), ...loads.slice(0, first)]) {
      say(`recalls ${beside.load}, round ${round + 1} of ${rounds}`);
      const { arrivals, textRate } = await run(load, round);
      beside.turns.push(arrivals);
      beside.textRates.push(textRate);
    }
  }
  return loads.map(({ beside }) => beside);
}
