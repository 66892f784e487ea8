import { expect, it } from 'vitest';
import { trieOrder } from './trie-order.js';

const SEEDS = [1, 2, 3, 4, 5];

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it.each(SEEDS)('leaves as many tokens as the trie of all prompts has, seed %i', (seed) => {
  const random = randomOf(seed);
  const prompts = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 9) }, () => Math.floor(random() * 3)),
  );
  const { asked, shared, placeOf } = trieOrder(prompts);
  const nodes = new Set(
    prompts.flatMap((prompt) => prompt.map((_, i) => prompt.slice(0, i + 1).join())),
  );
  const left = asked.reduce((sum, i, at) => sum + (prompts[i]?.length ?? 0) - (shared[at] ?? 0), 0);
  expect(left).toBe(nodes.size);
  for (const [i, prompt] of prompts.entries()) {
    expect(prompts[asked[placeOf[i] as number] as number]).toEqual(prompt);
  }
  expect(new Set(asked).size).toBe(new Set(prompts.map((prompt) => prompt.join())).size);
});
