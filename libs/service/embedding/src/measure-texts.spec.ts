import { cpSync, existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { TEXT_LIMITS, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModels } from './embedding-models.js';
import { measureTexts } from './measure-texts.js';

const FIXTURES = join(import.meta.dirname, '../../../../test/fixtures/encoders');
const FILE = 'activation_scales.safetensors';
const TEXTS = ['argan oil', 'argan oil shampoo serum', 'soap', 'dry skin cream for the night'];

const open = (path: string, computeType: 'f32' | 'w8a8-static') =>
  EmbeddingModels.open({
    specs: [{ name: 'm', path }],
    computeType,
    limits: TEXT_LIMITS,
  });

const embed = async (path: string, computeType: 'f32' | 'w8a8-static') => {
  const models = await open(path, computeType);
  try {
    return await models.embed({ model: 'm', texts: TEXTS, dimensions: undefined });
  } finally {
    models.close();
  }
};

const product = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe('static scales of an encoder', () => {
  const folder = temporaryFolder({});
  const path = join(folder.path, 'model');
  beforeAll(() => cpSync(join(FIXTURES, 'bert-mean'), path, { recursive: true }));
  afterAll(() => folder.remove());

  it('are asked for by the command that measures them', async () => {
    await expect(open(path, 'w8a8-static')).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringContaining(`${FILE}: expected the file that npm run doctor`),
    });
  });

  it('are written beside the checkpoint and make vectors near those of F32', async () => {
    const made = await measureTexts(path, TEXTS, 2);
    expect(made.path).toBe(join(path, FILE));
    const [exact, ours] = [await embed(path, 'f32'), await embed(path, 'w8a8-static')];
    expect(made).toMatchObject({ tokens: exact.tokens, truncated: 0 });
    for (const [i, vector] of ours.vectors.entries()) {
      expect(product(vector, exact.vectors[i] as Float32Array)).toBeGreaterThan(0.99);
      expect(vector).not.toEqual(exact.vectors[i]);
    }
    expect(ours.modelDigest).not.toBe(exact.modelDigest);
    expect(ours.modelDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('are refused where the file is damaged', async () => {
    truncateSync(join(path, FILE), 100);
    await expect(open(path, 'w8a8-static')).rejects.toMatchObject({ code: 'MODEL_CORRUPT' });
  });

  it('are not measured of a decoder', async () => {
    const decoder = join(folder.path, 'decoder');
    cpSync(join(FIXTURES, 'qwen3-last'), decoder, { recursive: true });
    await expect(measureTexts(decoder, TEXTS, 1)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringContaining('model_type: expected an encoder'),
    });
    expect(existsSync(join(decoder, FILE))).toBe(false);
  });
});
