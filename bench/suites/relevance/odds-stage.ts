import os from 'node:os';
import { SHAPES } from '../../models/model-shape.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { absences, isThere, tessera, transformers, withContestants } from './contestants.js';
import { pairs } from './prompts.js';
import { type Answered, oddsRows } from './relevance-rows.js';

const ITEMS = 16;
const QUERIES = { quick: 4, full: 13 };

/**
 * The log-odds of two labels on weights that are in BF16 as they are made: what is left between F32
 * and BF16 is arithmetic.
 */
export async function oddsStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const shape = SHAPES[quick ? '8x512' : 'qwen3-0.6b'];
  const peers = [transformers('f32'), transformers('bf16')];
  const starts = [...(isThere('transformers') ? peers : []), tessera('f32'), tessera('bf16')];
  const answered: Answered[] = [];
  // One at a time: each has all weights in memory.
  for (const start of starts) {
    await withContestants([start], { shape, threads, say }, async ([one]) => {
      if (one === undefined) return;
      say(`log-odds of ${ITEMS * QUERIES[form]} pairs by ${one.name}`);
      const logits: (readonly number[])[] = [];
      for (let query = 0; query < QUERIES[form]; query += 1) {
        logits.push(...(await one.ask(pairs(ITEMS, 100 + query))).logits);
      }
      answered.push({ name: one.name, logits });
    });
  }
  return [...oddsRows(shape.name, answered), ...absences(['transformers'])];
}
