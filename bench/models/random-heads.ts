import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelShape } from './model-shape.js';
import { writeSafetensors } from './random-model.js';

const HEADS = ['click', 'purchase'];

/** Writes a version that ranks: random linear heads, in BF16. */
export function randomHeads(folder: string, { hidden }: ModelShape, seed: number): void {
  mkdirSync(folder, { recursive: true });
  const heads = HEADS.map((name) => ({ name, activation: 'sigmoid' }));
  const form = { version: 1, name: 'random', item: '{sid}', heads };
  writeFileSync(join(folder, 'ranking.json'), `${JSON.stringify(form)}\n`);
  const tensors = HEADS.flatMap((name) => [
    { name: `${name}.0.weight`, shape: [1, hidden], deviation: 1 / Math.sqrt(hidden) },
    { name: `${name}.0.bias`, shape: [1], deviation: 1 },
  ]);
  writeSafetensors(join(folder, 'heads.safetensors'), tensors, seed);
}
