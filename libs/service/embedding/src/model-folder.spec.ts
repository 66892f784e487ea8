/** A folder of a model of texts: what its vectors are known by, and what becomes of it. */

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEXT_LIMITS, temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddingModels } from './embedding-models.js';

const FIXTURE = join(import.meta.dirname, '../../../../test/fixtures/encoders/bert-mean');
/** As `tokenizers` saves how its caller cuts and fills texts. */
const TRUNCATION = { direction: 'Right', max_length: 7, strategy: 'LongestFirst', stride: 0 };
const PADDING = {
  strategy: 'BatchLongest',
  direction: 'Right',
  pad_to_multiple_of: null,
  pad_id: 0,
  pad_type_id: 0,
  pad_token: '[PAD]',
};
const TEXTS = ['argan oil shampoo', 'serum', 'argan '.repeat(90)];

let folder = temporaryFolder({});
let model = '';
beforeEach(() => {
  folder = temporaryFolder({});
  model = join(folder.path, 'model');
  cpSync(FIXTURE, model, { recursive: true });
});
afterEach(() => folder.remove());

const opened = (limits = TEXT_LIMITS) =>
  EmbeddingModels.open({ specs: [{ name: 'ads', path: model }], computeType: 'f32', limits });

/** Both digests of the folder as it is now. */
async function digests(limits = TEXT_LIMITS): Promise<readonly (string | undefined)[]> {
  const models = await opened(limits);
  const [facts] = models.facts;
  models.close();
  return [facts?.digest, facts?.tokensDigest];
}

function edited(file: string, edit: (document: Record<string, unknown>) => unknown): void {
  const path = join(model, file);
  writeFileSync(path, JSON.stringify(edit(JSON.parse(readFileSync(path, 'utf8'))), null, 3));
}

async function embedded(models: EmbeddingModels): Promise<readonly Float32Array[]> {
  return (await models.embed({ model: '', texts: TEXTS, dimensions: undefined })).vectors;
}

describe('the tokens of a model', () => {
  it.each([
    ['tokenizer.json', (all: Record<string, unknown>) => ({ ...all, normalizer: null })],
    ['tokenizer_config.json', (all: Record<string, unknown>) => ({ ...all, model_max_length: 9 })],
  ])('have another digest with another %s, and the weights their own', async (file, edit) => {
    const [weights, tokens] = await digests();
    rmSync(join(model, 'sentence_bert_config.json'), { force: true });
    edited('tokenizer_config.json', (all) => ({ ...all, model_max_length: 64 }));
    const before = await digests();
    expect(before[0]).toBe(weights);
    edited(file, edit);
    const [ownWeights, otherTokens] = await digests();
    expect(ownWeights).toBe(weights);
    expect(otherTokens).not.toBe(before[1]);
    expect(tokens).toMatch(/^[0-9a-f]{64}$/);
  });

  it('have another digest where passes take fewer of a text', async () => {
    const [, tokens] = await digests();
    expect((await digests({ ...TEXT_LIMITS, tokensMax: 16 }))[1]).not.toBe(tokens);
  });

  it('have the same digest however the file is laid out, and whoever cut texts', async () => {
    const before = await digests();
    edited('tokenizer.json', (all) => ({ ...all, truncation: TRUNCATION, padding: PADDING }));
    expect(await digests()).toEqual(before);
  });
});

describe('a folder that goes away', () => {
  it('changes nothing while its model is served, and is missed when it is opened', async () => {
    const models = await opened();
    const before = await embedded(models);
    rmSync(model, { recursive: true });
    expect(await embedded(models)).toEqual(before);
    models.close();
    await expect(opened()).rejects.toMatchObject({
      code: expect.stringMatching(/^(MODEL_|TOKENIZER_)/),
      message: expect.stringContaining(model),
    });
  });
});
