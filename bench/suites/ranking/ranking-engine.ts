import { type EngineRanking, headPool } from '@tessera/engine';
import { temporaryFolder } from '@tessera/testing';
import { SHAPES } from '../../models/model-shape.js';
import { Random } from '../../models/random.js';
import { randomHeads } from '../../models/random-heads.js';
import { BenchEngine, ITEMS } from '../engine/bench-engine.js';
import type { SuiteContext } from '../suite.js';

export const PROMPT_TOKENS = 512;

/** An engine of the measured shape, with heads of its hidden size. */
export interface RankingEngine {
  readonly engine: BenchEngine;
  readonly ranking: EngineRanking;
}

export const shapeOf = (quick: boolean) => SHAPES[quick ? '8x512' : 'qwen3-0.6b'];

/** Opens, measures and closes, whatever happens in between. */
export async function withRanking<T>(
  { quick, say }: SuiteContext,
  threadCount: number,
  measure: (opened: RankingEngine) => Promise<T>,
): Promise<T> {
  const shape = shapeOf(quick);
  const folder = temporaryFolder({});
  const kvBytesMax = 2 ** 31;
  const kv = headPool(kvBytesMax);
  const options = { threadCount, adapterBytesMax: 2 ** 24, kvBytesMax, kv };
  const engine = await BenchEngine.open(shape, 'bf16', options, say);
  try {
    randomHeads(folder.path, shape, 1);
    const adapter = await engine.loadAdapter(folder.path);
    return await measure({ engine, ranking: { adapter, prefix: new Int32Array(), suffixes: [] } });
  } finally {
    await engine.close();
    folder.remove();
  }
}

/** Ordinals of different items. */
export function someItems(count: number, seed: number): Uint32Array {
  const random = new Random(seed);
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(random.below(ITEMS));
  return Uint32Array.from(chosen);
}
