import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ENCODERS, MINILM, randomEncoder } from '../../models/random-encoder.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { openOwn, type Setting, type TextPrecision } from './own-models.js';
import { rateRows, type Timed } from './rate-rows.js';
import { drawTexts } from './texts.js';

const TEXTS = { quick: 64, full: 256 };
/** All types take turns in each: a shared machine's clock and load move within minutes. */
const ROUNDS = { quick: 2, full: 7 };
const TYPES: readonly TextPrecision[] = ['f32', 'bf16', 'w8a8'];
/** Before each turn: threads of the model asked before may still spin. */
const REST_MS = 50;
const SEED = 8;

/** Texts a second by type of arithmetic, in turns: from texts, tokenizer and queue included. */
export async function throughputStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const known = ENCODERS.map(({ name }) => name);
  const wanted = flags.someOf('shape', known, quick ? [MINILM.name] : known);
  const texts = drawTexts(TEXTS[form], SEED).map(({ text }) => text);
  const measurements: Measurement[] = [];
  for (const shape of ENCODERS.filter(({ name }) => wanted.includes(name))) {
    const setting = { modelPath: randomEncoder(shape, say), threads };
    const tell = (line: string) => say(`${shape.name}: ${line}`);
    const all = await inRounds(setting, texts, ROUNDS[form], tell);
    measurements.push(...rateRows(`${shape.name}, ${texts.length} texts`, texts.length, all));
  }
  return measurements;
}

/** The first round warms up and does not count. */
async function inRounds(
  setting: Setting,
  texts: readonly string[],
  rounds: number,
  say: (line: string) => void,
): Promise<Timed[]> {
  const all = await Promise.all(
    TYPES.map(async (name) => ({
      name,
      models: await openOwn(setting, name),
      milliseconds: [] as number[],
    })),
  );
  try {
    for (let round = 0; round <= rounds; round += 1) {
      say(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const { models, milliseconds } of all) {
        await pause(REST_MS);
        const started = performance.now();
        await models.embed({ model: '', texts, dimensions: undefined });
        if (round > 0) milliseconds.push(performance.now() - started);
      }
    }
    return all;
  } finally {
    for (const { models } of all) models.close();
  }
}
