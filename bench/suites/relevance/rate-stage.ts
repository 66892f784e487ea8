import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { SHAPES } from '../../models/model-shape.js';
import type { Measurement } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import {
  absences,
  type Contestant,
  isThere,
  type Start,
  tessera,
  vllm,
  withContestants,
} from './contestants.js';
import { pairs } from './prompts.js';
import { logOddsErrors, type Round, rateRows } from './relevance-rows.js';

const ITEMS = { quick: 16, full: 64 };
/** All take turns: a shared machine's clock and load move within minutes. */
const ROUNDS = { quick: 3, full: 9 };
/** Before each question: threads of the engine asked before may still spin. */
const REST_MS = 250;

/** Items a second beside vLLM on the same weights and threads, in rounds of turns. */
export async function rateStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const shape = SHAPES[quick ? '8x512' : 'qwen3-0.6b'];
  const items = ITEMS[form];
  const starts: Start[] = [tessera('bf16')];
  if (isThere('vllm-engine')) starts.push(vllm('bf16'));
  const rounds = await withContestants(starts, { shape, threads, say }, (all) =>
    inRounds(all, ROUNDS[form], items, say),
  );
  const rows = rateRows(`${shape.name}, ${items} items of one query`, items, rounds);
  return [...rows, ...absences(['vllm-engine'])];
}

/** Every round another one begins; the first, which warms up, counts for nobody. */
async function inRounds(
  all: readonly Contestant[],
  count: number,
  items: number,
  say: (line: string) => void,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round <= count; round += 1) {
    say(`items of one query, round ${round} of ${count}`);
    const prompts = pairs(items, round);
    const turns = [...all.slice(round % all.length), ...all.slice(0, round % all.length)];
    const answers = new Map<Contestant, Awaited<ReturnType<Contestant['ask']>>>();
    for (const one of turns) {
      await pause(REST_MS);
      answers.set(one, await one.ask(prompts));
    }
    if (round === 0) continue;
    const own = answers.get(all[0] as Contestant)?.logits ?? [];
    rounds.push(
      all.map((one) => {
        const { totalMs = Number.NaN, logits = [] } = answers.get(one) ?? {};
        return { name: one.name, ms: totalMs, errors: logOddsErrors(logits, own) };
      }),
    );
  }
  return rounds;
}
