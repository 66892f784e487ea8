import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelShape } from '../../models/model-shape.js';
import { randomModel } from '../../models/random-model.js';
import { PEERS_HOME, PYTHON, SOURCES, TRANSFORMERS_MARK } from '../../peers/peer-kinds.js';
import { PeerProcess } from '../../peers/peer-process.js';
import type { Measurement } from '../../result.js';
import { type PairAnswer, type PairComputeType, PairEngine } from './pair-engine.js';
import { LABELS, type Prompt } from './prompts.js';

const VLLM_PYTHON = join(PEERS_HOME, 'vllm-engine', 'bin', 'python');
const DTYPES = { f32: 'float32', bf16: 'bfloat16' } as const;

/** Answers prompts with logits of the labels, on the same weights and threads as the others. */
export interface Contestant {
  readonly name: string;
  ask(prompts: readonly Prompt[]): Promise<PairAnswer>;
  close(): Promise<void>;
}

interface Setting {
  readonly shape: ModelShape;
  readonly threads: number;
  readonly say: (line: string) => void;
}

export type Start = (setting: Setting) => Promise<Contestant>;

export const tessera =
  (computeType: PairComputeType): Start =>
  async ({ shape, threads, say }) => {
    const engine = await PairEngine.open(shape, computeType, say, threads);
    return {
      name: `Tessera ${computeType}`,
      ask: (prompts) => engine.ask(prompts),
      close: () => engine.close(),
    };
  };

/** The best known use of the library. */
export const transformers =
  (computeType: PairComputeType): Start =>
  ({ shape, threads, say }) => {
    const words = [randomModel(shape, say), String(threads), DTYPES[computeType]];
    const program = join(SOURCES, 'relevance_peer.py');
    return peer(`transformers ${computeType}`, PYTHON, [program, ...words]);
  };

/** Its engine with prefix caching, in an environment of its own. */
export const vllm =
  (computeType: PairComputeType): Start =>
  ({ shape, threads, say }) => {
    const words = [randomModel(shape, say), String(threads), DTYPES[computeType]];
    const program = join(SOURCES, 'relevance_vllm_peer.py');
    return peer(`vLLM ${computeType}`, VLLM_PYTHON, [program, ...words]);
  };

async function peer(name: string, command: string, words: readonly string[]): Promise<Contestant> {
  const process = await PeerProcess.start(name, command, words);
  return {
    name,
    ask: (prompts) => process.exchange<PairAnswer>({ prompts, labels: [...LABELS] }),
    close: () => process.close(),
  };
}

/** Marks that installations leave last, by the word for `bench/peers/install.mjs`. */
const MARKS = {
  transformers: TRANSFORMERS_MARK,
  'vllm-engine': join(PEERS_HOME, 'vllm-engine.installed'),
} as const;
type Installed = keyof typeof MARKS;

export const isThere = (word: Installed) => existsSync(MARKS[word]);

/** A row for each peer that is not installed. */
export function absences(words: readonly Installed[]): Measurement[] {
  return words
    .filter((word) => !isThere(word))
    .map((word) => ({
      name: `absent: ${word} (node bench/peers/install.mjs ${word})`,
      value: 1,
      unit: 'peer',
      bar: null,
    }));
}

/** Starts all, measures and closes, whatever happens in between. */
export async function withContestants<T>(
  starts: readonly Start[],
  setting: Setting,
  measure: (all: readonly Contestant[]) => Promise<T>,
): Promise<T> {
  const all: Contestant[] = [];
  try {
    for (const start of starts) all.push(await start(setting));
    return await measure(all);
  } finally {
    for (const each of all) await each.close();
  }
}
