import { existsSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { SHAPES } from '../../models/model-shape.js';
import { randomModel } from '../../models/random-model.js';
import { PYTHON, SOURCES, TRANSFORMERS_MARK } from '../../peers/peer-kinds.js';
import { PeerProcess } from '../../peers/peer-process.js';
import { type Measurement, quantile } from '../../result.js';
import type { SuiteContext } from '../suite.js';
import { type PairAnswer, PairEngine } from './pair-engine.js';
import { LABELS, pairs } from './prompts.js';

const ITEMS = { quick: 16, full: 64 };
const TURNS = { quick: 3, full: 7 };
const BAR = 1.5;
const WAYS = ['padded', 'shared'];
const MS_PER_SECOND = 1000;

interface Contestant {
  readonly name: string;
  ask(prompts: readonly (readonly number[])[]): Promise<PairAnswer>;
  close(): Promise<void>;
}

/** Items a second beside transformers on the same weights and threads, in turns. */
export async function rateStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
  const form = quick ? 'quick' : 'full';
  const shape = SHAPES[quick ? '8x512' : 'qwen3-0.6b'];
  const path = randomModel(shape, say);
  const own = await PairEngine.open(shape, 'bf16', threads, say);
  const all: Contestant[] = [
    { name: 'tessera', ask: (of) => own.ask(of), close: () => own.close() },
  ];
  try {
    if (existsSync(TRANSFORMERS_MARK)) {
      for (const way of WAYS) all.push(await transformers(path, threads, way));
    }
    const times = await turns(all, TURNS[form], ITEMS[form], say);
    return rows(`${shape.name}, ${ITEMS[form]} items of one query`, ITEMS[form], times);
  } finally {
    for (const each of all) await each.close();
  }
}

async function transformers(path: string, threads: number, way: string): Promise<Contestant> {
  const name = `transformers ${way}`;
  const program = join(SOURCES, 'relevance_peer.py');
  const words = [program, path, String(threads), way, 'bfloat16'];
  const peer = await PeerProcess.start(name, PYTHON, words);
  return {
    name,
    ask: (prompts) => peer.exchange<PairAnswer>({ prompts, labels: [...LABELS] }),
    close: () => peer.close(),
  };
}

/** Milliseconds of each, by its name; the first turn warms up and counts for nobody. */
async function turns(
  all: readonly Contestant[],
  count: number,
  items: number,
  say: (line: string) => void,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  for (let turn = 0; turn <= count; turn += 1) {
    say(`turn ${turn} of ${count}`);
    const prompts = pairs(items, turn);
    for (const { name, ask } of all) {
      const { totalMs } = await ask(prompts);
      if (turn > 0) times.get(name)?.push(totalMs);
    }
  }
  return times;
}

function rows(
  name: string,
  items: number,
  times: ReadonlyMap<string, readonly number[]>,
): Measurement[] {
  const rates = [...times].map(([who, ms]) => ({
    who,
    rate: (MS_PER_SECOND * items) / quantile([...ms], 0.5),
  }));
  const [own, ...peers] = rates;
  if (own === undefined) return [];
  const best = Math.max(...peers.map(({ rate }) => rate));
  const row = { name, value: own.rate, unit: 'items/s' };
  if (peers.length === 0) return [{ ...row, bar: null }];
  return peers.map(({ who, rate }) => ({
    ...row,
    ratio: { value: own.rate / rate, to: who },
    bar: rate === best ? BAR : null,
  }));
}
