/** Items placed by texts through a model's folder: the engine that serves /v1/embeddings. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CatalogueChanges,
  parseSource,
  prepareCatalogue,
  readCodebookFolder,
} from '@tessera/catalogue';
import { EmbeddingModels } from '@tessera/embedding';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelEncoders } from './item-encoders.js';

const MODEL = 'test/fixtures/encoders/bert-mean';
const REQUEST_TEXTS_MAX = 4;
const DIMENSION = 24;
const CODES = 5;
const SEED = 2024;
const TEXTS = Array.from({ length: 11 }, (_, i) => `argan oil ${'serum '.repeat(i)}shampoo ${i}`);

const folder = temporaryFolder({ 'items.jsonl': '{"item_id": "a", "sid": [0, 0]}' });
const codebooks = join(folder.path, 'sids');
let models: EmbeddingModels;
let levels: Float32Array[];

/** Numbers of [-0.1, 0.1) by a seed: as large as those of vectors of length 1. */
function drawn(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) / 5;
  });
}

function writeCodebooks(modelDigest: string): void {
  const shape = [CODES, DIMENSION];
  const bytes = CODES * DIMENSION * 4;
  const metadata = { 'tessera-codebooks': '{"version": 1, "capacity": 99}' };
  const header = Buffer.from(
    JSON.stringify({
      __metadata__: metadata,
      'level.0': { dtype: 'F32', shape, data_offsets: [0, bytes] },
      'level.1': { dtype: 'F32', shape, data_offsets: [bytes, 2 * bytes] },
    }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const numbers = levels.map(({ buffer }) => Buffer.from(buffer));
  writeFileSync(
    join(codebooks, 'codebooks.safetensors'),
    Buffer.concat([length, header, ...numbers]),
  );
  const mark = { version: 1, kind: 'encoder', model_digest: modelDigest, compute_type: 'f32' };
  writeFileSync(join(codebooks, 'text.json'), JSON.stringify(mark));
}

/** The nearest code at each level, by float64. */
function nearestCodes(vector: Float32Array): number[] {
  let rest = [...vector];
  return levels.map((book) => {
    const centre = (code: number) => [...book.subarray(code * DIMENSION, (code + 1) * DIMENSION)];
    const distances = Array.from({ length: CODES }, (_, code) =>
      centre(code).reduce((sum, c, i) => sum + ((rest[i] as number) - c) ** 2, 0),
    );
    const code = distances.indexOf(Math.min(...distances));
    rest = centre(code).map((c, i) => (rest[i] as number) - c);
    return code;
  });
}

beforeAll(async () => {
  models = await EmbeddingModels.open({
    specs: [{ name: 'ads', path: MODEL }],
    computeType: 'f32',
    limits: {
      threadCount: 1,
      tokensMax: 512,
      textsMax: 8,
      timeTargetUs: 1e6,
      queueTextsMax: REQUEST_TEXTS_MAX,
      requestTextsMax: REQUEST_TEXTS_MAX,
      textBytesMax: 4096,
    },
  });
  mkdirSync(codebooks);
  levels = [drawn(CODES * DIMENSION, SEED), drawn(CODES * DIMENSION, SEED + 1)];
  writeCodebooks(models.facts[0]?.digest ?? '');
});
afterAll(() => {
  models.close();
  folder.remove();
});

describe('an encoder of items', () => {
  it('makes the bits that the model makes of a text asked for alone', async () => {
    const { digest = '', tokensDigest, dimension = 0 } = models.facts[0] ?? {};
    const mark = { modelDigest: digest, tokensDigest, computeType: 'f32', dimension };
    const made = (await new ModelEncoders(models).find(mark)?.embed(TEXTS, String)) ?? [];
    expect(made.length).toBe(TEXTS.length);
    for (const [i, text] of TEXTS.entries()) {
      const { vectors } = await models.embed({
        model: 'ads',
        texts: [text],
        dimensions: undefined,
      });
      expect(made[i]).toEqual(vectors[0]);
    }
  });

  it('is the one of the digest and the type, or none', () => {
    const { digest = '', tokensDigest } = models.facts[0] ?? {};
    const mark = { modelDigest: digest, tokensDigest, computeType: 'f32', dimension: 9 };
    const encoders = new ModelEncoders(models);
    expect(encoders.find(mark)).toMatchObject({ name: 'model ads', dimension: 9 });
    expect(encoders.find(Object.assign({}, mark, { computeType: 'bf16' }))).toBeUndefined();
    expect(encoders.find(Object.assign({}, mark, { modelDigest: 'ab' }))).toBeUndefined();
    expect(encoders.find(Object.assign({}, mark, { tokensDigest: 'ab' }))).toBeUndefined();
    // Codebooks of an earlier release say nothing of the tokenizer.
    const older = encoders.find(Object.assign({}, mark, { tokensDigest: undefined }));
    expect(older?.name).toContain('the codebooks do not say with which tokenizer');
  });

  it('places items at the codes nearest to the vectors of their texts', async () => {
    const { catalogue } = await prepareCatalogue({
      sources: [parseSource(join(folder.path, 'items.jsonl'))],
      titlesPath: '',
      cacheDir: join(folder.path, 'cache'),
      onProgress: () => undefined,
    });
    try {
      const kept = join(folder.path, 'changes');
      const levelSizes = [CODES, CODES];
      await catalogue.keep({ folder: kept, sync: 'never', levelSizes, reserveBytes: 0 });
      const semanticIds = await readCodebookFolder(codebooks, new ModelEncoders(models));
      await catalogue.quantiseBy(semanticIds.codebooks);
      const onCompacted = () => undefined;
      const options = { folder: kept, compactAfterChanges: 0, onCompacted, semanticIds };
      const changes = new CatalogueChanges(catalogue, options);
      const nothing = { sid: [], title: '', attributes: '', priority: 0 };
      const upserts = TEXTS.map((text, i) =>
        Object.assign({ op: 'upsert' as const, itemId: `n${i}`, text }, nothing),
      );
      const { placed } = await changes.apply(upserts);
      const expected: number[] = [];
      for (const text of TEXTS) {
        const asked = { model: 'ads', texts: [text], dimensions: DIMENSION };
        expected.push(...nearestCodes((await models.embed(asked)).vectors[0] as Float32Array));
      }
      expect([...placed.codes], `seed ${SEED}`).toEqual(expected);
      const empty = Object.assign({}, upserts[0], { itemId: 'e', text: ' ' });
      await expect(changes.apply([empty])).rejects.toMatchObject({
        code: 'CATALOGUE_INVALID',
        message: expect.stringContaining('changes[0].text: expected a text that is not empty'),
      });
    } finally {
      catalogue.close();
    }
  });
});
