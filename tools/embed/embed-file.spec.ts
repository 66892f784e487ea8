import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embedFile } from './embed-file.js';
import { npyHeader } from './vector-file.js';

const DIGEST = 'cd'.repeat(32);
const TOKENS_DIGEST = 'ef'.repeat(32);
const nothing = () => undefined;
let folder = temporaryFolder({});
beforeEach(() => {
  folder = temporaryFolder({});
});
afterEach(() => folder.remove());

/** A text's vector is its number and a half; fails from a number of texts on. */
function numberModels(textsMax = Number.POSITIVE_INFINITY, digest = DIGEST) {
  const asked: string[] = [];
  const models = {
    computeType: 'f32',
    facts: [{ name: 'model', digest, tokensDigest: TOKENS_DIGEST, dimension: 2 }],
    embed: ({ texts }: { readonly texts: readonly string[] }) => {
      if (asked.length + texts.length > textsMax) return Promise.reject(new Error('stopped'));
      asked.push(...texts);
      const vectors = texts.map((text) => Float32Array.of(Number(text), 0.5));
      return Promise.resolve({
        model: 'model',
        modelDigest: digest,
        dimensions: 2,
        vectors,
        tokens: 1,
        truncated: 1,
      });
    },
  };
  return { models, asked };
}
const texts = Array.from({ length: 600 }, (_, i) => (i === 300 ? ' ' : String(i)));
const path = () => join(folder.path, 'v.npy');
/** The numbers behind a header of 128 bytes, as numpy 2 writes it for the same array. */
const numbersOf = (file: Buffer) =>
  Array.from({ length: (file.length - 128) / 4 }, (_, i) => file.readFloatLE(128 + 4 * i));

describe('a file of vectors', () => {
  it('begins as numpy begins one', () => {
    const described = "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 2), }";
    const text = `\x93NUMPY\x01\x00v\x00${described.padEnd(117)}\n`;
    expect(npyHeader(600, 2)).toEqual(Buffer.from(text, 'latin1'));
    expect(npyHeader(1234567, 4096).length % 64).toBe(0);
  });

  it('has a row per text, zeros for an empty one, and says what made it', async () => {
    const { models } = numberModels();
    const made = await embedFile(models, texts, path(), nothing);
    expect(made).toMatchObject({ texts: 600, emptyTexts: 1, truncated: 3, resumed: 0 });
    const numbers = numbersOf(readFileSync(path()));
    expect(numbers).toEqual(texts.flatMap((text) => (text === ' ' ? [0, 0] : [Number(text), 0.5])));
    expect(JSON.parse(readFileSync(join(folder.path, 'v.json'), 'utf8'))).toEqual({
      version: 1,
      kind: 'encoder',
      model_digest: DIGEST,
      tokens_digest: TOKENS_DIGEST,
      compute_type: 'f32',
      mark: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(readdirSync(folder.path).sort()).toEqual(['v.json', 'v.npy']);
  });

  it('is gone on with where a run was stopped, to the same bytes', async () => {
    await embedFile(numberModels().models, texts, path(), nothing);
    const whole = readFileSync(path());
    const stopped = numberModels(300);
    const failed = embedFile(stopped.models, texts, join(folder.path, 'w.npy'), nothing);
    await expect(failed).rejects.toThrow('stopped');
    const second = numberModels();
    const again = await embedFile(second.models, texts, join(folder.path, 'w.npy'), nothing);
    expect(again.resumed).toBe(stopped.asked.length);
    expect([...stopped.asked, ...second.asked]).toEqual(texts.filter((text) => text !== ' '));
    expect(readFileSync(join(folder.path, 'w.npy'))).toEqual(whole);
  });

  it('is not made again of the same texts by the same model', async () => {
    await embedFile(numberModels().models, texts, path(), nothing);
    const { models, asked } = numberModels();
    const again = await embedFile(models, texts, path(), nothing);
    expect([again.resumed, asked.length]).toEqual([600, 0]);
    rmSync(path());
    expect((await embedFile(models, texts, path(), nothing)).resumed).toBe(0);
  });

  it('is begun anew by another model, and for other texts', async () => {
    const run = (digest: string, given: readonly string[], textsMax?: number) =>
      embedFile(numberModels(textsMax, digest).models, given, path(), nothing);
    await expect(run(DIGEST, texts, 300)).rejects.toThrow('stopped');
    expect((await run('ef'.repeat(32), texts)).resumed).toBe(0);
    expect((await run(DIGEST, texts.slice(1))).resumed).toBe(0);
    expect((await run(DIGEST, texts)).resumed).toBe(256);
  });
});
