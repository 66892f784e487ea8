import { LEVEL_CODES, LEVELS, type ModelShape } from '../models/model-shape.js';
import { randomCatalogue } from '../models/random-catalogue.js';
import { randomModel } from '../models/random-model.js';
import type { PeerAnswer } from '../peers/peer.js';
import { PeerProcess } from '../peers/peer-process.js';
import { type Agreement, pathAgreement } from '../suites/engine/agreement.js';
import { BenchEngine, withEngine } from '../suites/engine/bench-engine.js';
import { type CardLine, lineOf } from './card-documents.js';

const PROMPT_TOKENS = 128;
const WIDTH = 64;
/** Distances from F32 that another engine's rounding in BF16 has, and ours may have. */
const PEER_DISTANCES = 2;

export interface ParityOptions {
  readonly shape: ModelShape;
  readonly device: string;
  readonly prompts: number;
  readonly items: number;
  readonly threads: number;
  /** With trainer/requirements.txt. */
  readonly python: string;
  readonly say: (line: string) => void;
}

/**
 * Scores of a device's beams in BF16 against transformers in F32 on the same weights, beside
 * transformers in BF16.
 * @throws Error where a score is farther from F32 than twice the distance of transformers in BF16
 */
export async function parity(options: ParityOptions): Promise<CardLine[]> {
  const { shape, device, prompts, items, say } = options;
  const tokens: Int32Array[] = [];
  const opened = BenchEngine.open(shape, 'bf16', { device }, say, items);
  const ours = await withEngine(opened, async (engine) => {
    const answers: PeerAnswer[] = [];
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      tokens.push(engine.prompt(PROMPT_TOKENS, 700 + prompt));
      answers.push(await engine.recall({ tokens: tokens[prompt] as Int32Array, width: WIDTH }));
    }
    return answers;
  });
  const reference = await transformers('float32', tokens, options);
  const rounded = await transformers('bfloat16', tokens, options);
  const own = worst(ours, reference);
  const peer = worst(rounded, reference);
  const bound = PEER_DISTANCES * peer.scoreError;
  if (!(own.scoreError <= bound)) {
    throw new Error(`${shape.name}: expected scores within ${bound} of F32, got ${own.scoreError}`);
  }
  if (own.overlap === 0) throw new Error(`${shape.name}: expected paths of F32, got none`);
  const name = `parity/${shape.name}/${prompts} recalls of ${WIDTH} beams`;
  return [
    lineOf(`${name}/distance of a score from F32`, own.scoreError, 'nats'),
    lineOf(`${name}/the same of transformers in BF16`, peer.scoreError, 'nats'),
    lineOf(`${name}/best 50 as in F32, least`, own.overlap, 'share'),
    lineOf(`${name}/the same of transformers in BF16, least`, peer.overlap, 'share'),
  ];
}

async function transformers(
  type: 'float32' | 'bfloat16',
  prompts: readonly Int32Array[],
  { shape, device, items, threads, python, say }: ParityOptions,
): Promise<PeerAnswer[]> {
  say(`${shape.name}: transformers in ${type}`);
  const { sidsPath } = await randomCatalogue(items, say);
  const sizes = [LEVELS, LEVEL_CODES, threads].map(String);
  const peer = await PeerProcess.start(`transformers ${type}`, python, [
    ...['bench/peers/transformers_peer.py', randomModel(shape, say), sidsPath],
    ...[...sizes, 'loop', type, device === 'cpu' ? 'cpu' : 'cuda'],
  ]);
  try {
    const answers: PeerAnswer[] = [];
    for (const tokens of prompts) answers.push(await peer.ask({ width: WIDTH, tokens }));
    return answers;
  } finally {
    await peer.close();
  }
}

function worst(answers: readonly PeerAnswer[], reference: readonly PeerAnswer[]): Agreement {
  const all = answers.flatMap((answer, at) => {
    const agreement = pathAgreement(answer, reference[at] as PeerAnswer);
    return agreement === undefined ? [] : [agreement];
  });
  return {
    overlap: Math.min(...all.map(({ overlap }) => overlap)),
    scoreError: Math.max(...all.map(({ scoreError }) => scoreError)),
  };
}
