import { existsSync } from 'node:fs';
import { TesseraError } from '@tessera/errors';
import { type ModelShape, SHAPES } from '../models/model-shape.js';
import { readSids } from '../models/random-catalogue.js';
import { BENCH_CACHE } from '../models/random-model.js';
import type { BenchFolders, OpenOptions } from '../suites/engine/bench-engine.js';
import { type CardShape, CODES, LEVELS, modelFolder, sidsPath, snapshotPath } from './plan.js';

/** Two layers of the least head that a card has kernels for: seconds on a processor. */
export const TINY_CARD: ModelShape = {
  name: 'tiny-card',
  layers: 2,
  hidden: 128,
  heads: 4,
  kvHeads: 2,
  headDim: 64,
  inner: 256,
};

/** Shapes that answers are compared on: grouped queries, heads of 64 and of 128. */
export const COMPARED_SHAPES: readonly ModelShape[] = [
  TINY_CARD,
  SHAPES['8x512'],
  SHAPES['qwen3-0.6b'],
];

const POSITIONS = 8192;
const VOCABULARY = 151_936;

/** As native/bench/card/shapes.cc draws them. */
const DRAWN: Readonly<Record<CardShape, ModelShape>> = {
  'qwen3-1.7b': {
    ...SHAPES['qwen3-0.6b'],
    name: 'qwen3-1.7b',
    hidden: 2048,
    inner: 6144,
    vocabulary: VOCABULARY,
  },
  'qwen3-0.6b': { ...SHAPES['qwen3-0.6b'], vocabulary: VOCABULARY },
};

/**
 * Weights and catalogue that `card_bench recall` has drawn.
 * @throws TesseraError MODEL_NOT_FOUND where it has not
 */
export function drawnFolders(shape: CardShape): BenchFolders {
  const modelPath = modelFolder(BENCH_CACHE, shape);
  const sids = sidsPath(BENCH_CACHE);
  const absent = [modelPath, sids].find((path) => !existsSync(path));
  if (absent !== undefined) {
    throw new TesseraError('MODEL_NOT_FOUND', `${absent}: expected what card_bench recall draws`);
  }
  const form = { levels: LEVELS, codes: CODES };
  const random = {
    snapshotPath: snapshotPath(BENCH_CACHE),
    sidsPath: sids,
    sids: readSids(sids),
    form,
  };
  return { shape: DRAWN[shape], modelPath, random };
}

/** Whole prompts in one pass, as an engine on a card has them in native/bench/card. */
export const WHOLE_PROMPTS: OpenOptions = {
  batchRowsMax: POSITIONS,
  prefillChunkTokens: POSITIONS,
  promptTokensMax: POSITIONS - LEVELS - 1,
  passTimeTargetUs: 0,
};
