import { safetensorsHeader } from './safetensors-header.js';
import { seededRandom } from './seeded-random.js';

/** `heads.safetensors` of linear heads with drawn weights. */
export function drawnHeads(names: readonly string[], hiddenSize: number, seed: number): Buffer {
  const random = seededRandom(seed);
  const tensors = names.flatMap((name) => [
    { name: `${name}.0.weight`, shape: [1, hiddenSize] },
    { name: `${name}.0.bias`, shape: [1] },
  ]);
  const count = names.length * (hiddenSize + 1);
  const values = Float32Array.from({ length: count }, () => (random() - 0.5) / 4);
  return Buffer.concat([safetensorsHeader(tensors, 'F32'), Buffer.from(values.buffer)]);
}
