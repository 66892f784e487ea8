import { seededRandom } from '@tessera/testing';
import { expect, it } from 'vitest';
import { trieOrder } from './trie-order.js';

const SEEDS = [1, 2, 3, 4, 5];

it.each(SEEDS)('leaves as many tokens as the trie of all prompts has, seed %i', (seed) => {
  const random = seededRandom(seed);
  const prompts = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 9) }, () => Math.floor(random() * 3)),
  );
  const { asked, shared, placeOf } = trieOrder(prompts.map((tokens) => Int32Array.from(tokens)));
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
