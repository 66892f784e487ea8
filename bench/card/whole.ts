import type { EngineAnswer } from '@tessera/engine';
import { LEVELS, type ModelShape } from '../models/model-shape.js';
import { BenchEngine, withEngine } from '../suites/engine/bench-engine.js';
import { type CardLine, lineOf } from './card-documents.js';

const PROMPT_TOKENS = 256;
const BEST = 50;
/** Enough for all rows of ITEMS: random weights leave no shorter proof. */
const ROW_BUDGET = 16_384;
const ITEMS = 1000;
/** Distance of a level's log-probability that native/src/model/parity_test.cc allows BF16. */
const LEVEL_BOUND = 0.15;

/** The compared parts of an answer. */
export type Found = Pick<EngineAnswer, 'items' | 'certified'>;

/** Answers of two devices to one prompt, compared. */
export interface Compared {
  /** Largest distance of the scores of an item that both have. */
  readonly distance: number;
  /** Sizes k of proven answers that rounding cannot change, as the gap behind k says. */
  readonly sizes: number;
  /** Sizes among them whose items are not the same. */
  readonly wrong: readonly number[];
}

/**
 * An item's place among the best k is certain where the k-th score is above the next by more than
 * two scores can move, each by the distance that common items have moved.
 */
export function compared(ours: Found, reference: Found): Compared {
  const scores = new Map(ours.items.map(({ itemId, score }) => [itemId, score]));
  const distances = reference.items.flatMap(({ itemId, score }) => {
    const own = scores.get(itemId);
    return own === undefined ? [] : [Math.abs(own - score)];
  });
  const distance = distances.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...distances);
  const wrong: number[] = [];
  let sizes = 0;
  const isProven = ours.certified && reference.certified;
  for (let k = 1; isProven && k < reference.items.length; k += 1) {
    const gap = (reference.items[k - 1]?.score ?? 0) - (reference.items[k]?.score ?? 0);
    if (!(gap > 2 * distance)) continue;
    sizes += 1;
    const own = new Set(ours.items.slice(0, k).map(({ itemId }) => itemId));
    if (!reference.items.slice(0, k).every(({ itemId }) => own.has(itemId))) wrong.push(k);
  }
  return { distance, sizes, wrong };
}

export interface WholeOptions {
  readonly shape: ModelShape;
  readonly device: string;
  readonly prompts: number;
  readonly say: (line: string) => void;
}

/**
 * Certified recalls of a device against those of the processor on the same weights, in BF16.
 * @throws Error where rounding does not explain a difference
 */
export async function wholeRecalls(options: WholeOptions): Promise<CardLine[]> {
  const { shape, device, prompts, say } = options;
  const reference = await answersOf('cpu', options);
  const ours = await answersOf(device, options);
  const all = ours.map((answer, at) => compared(answer, reference[at] as Found));
  const distance = Math.max(...all.map((one) => one.distance));
  const sizes = all.reduce((sum, one) => sum + one.sizes, 0);
  say(`${shape.name}: scores differ by ${distance} at most, ${sizes} sizes are certain`);
  const bound = LEVEL_BOUND * LEVELS;
  if (!(distance <= bound)) {
    throw new Error(`${shape.name}: expected scores within ${bound}, got ${distance}`);
  }
  if (sizes === 0) throw new Error(`${shape.name}: expected answers to compare, got none`);
  const wrong = all.findIndex((one) => one.wrong.length > 0);
  if (wrong >= 0) {
    const k = all[wrong]?.wrong[0];
    throw new Error(`${shape.name}, prompt ${wrong}: expected the same best ${k}, got others`);
  }
  const name = `whole/${shape.name}/${prompts} recalls`;
  return [
    lineOf(`${name}/largest distance of a score`, distance, 'nats'),
    lineOf(`${name}/answers that rounding cannot change, all the same`, sizes, 'answers'),
  ];
}

function answersOf(
  device: string,
  { shape, prompts, say }: WholeOptions,
): Promise<readonly Found[]> {
  say(`${shape.name}: ${prompts} certified recalls on ${device}`);
  return withEngine(BenchEngine.open(shape, 'bf16', { device }, say, ITEMS), async (engine) => {
    const answers: Found[] = [];
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const tokens = engine.prompt(PROMPT_TOKENS, 300 + prompt);
      const ask = { tokens, width: BEST + 1, rowBudget: ROW_BUDGET };
      answers.push(await engine.recall(ask));
    }
    return answers;
  });
}
