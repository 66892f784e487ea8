import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbedderInfo, NativeEmbedder } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { TEXT_LIMITS } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillPass } from './domain/fill-pass.js';
import { parseModelSpecs } from './domain/model-specs.js';
import { bytesOf, halfOf } from './domain/number-bytes.js';
import { PassCost } from './domain/pass-cost.js';
import { normalise, shorten } from './domain/shorten.js';
import { TextTokenMaker } from './domain/text-tokens.js';
import { EmbeddingModel } from './embedding-model.js';
import { EmbeddingModels, NO_MODELS } from './embedding-models.js';
import { readTextFolder } from './outside/text-folder.js';

const FIXTURES = join(import.meta.dirname, '../../../../test/fixtures/encoders');
const FOLDERS = [
  'bert-mean',
  'bert-max-dense',
  'bert-classifier',
  'roberta-cls',
  'xlm-roberta-classifier',
  'modernbert-mean',
  'modernbert-classifier',
  'qwen3-last',
];

interface RecordedCase {
  readonly text?: string;
  readonly tokens: readonly number[];
  readonly vector: readonly number[];
}
const casesOf = (name: string) =>
  JSON.parse(readFileSync(join(FIXTURES, name, 'cases.json'), 'utf8')) as RecordedCase[];

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += (a[i] as number) * (b[i] as number);
    aa += (a[i] as number) ** 2;
    bb += (b[i] as number) ** 2;
  }
  return product / Math.sqrt(aa * bb);
}

describe('tokens of texts', () => {
  it.each(FOLDERS)(
    'are those of the tokenizer library in Rust, truncated as it does: %s',
    async (name) => {
      const { tokenizer, tokensMax } = await readTextFolder(join(FIXTURES, name));
      const maker = await TextTokenMaker.of(tokenizer, tokensMax);
      const texts = casesOf(name).filter(({ text }) => text !== undefined);
      expect(texts.length).toBeGreaterThan(5);
      for (const { text = '', tokens } of texts) {
        expect((await maker.tokensOf(text)).tokens, text).toEqual(tokens);
      }
    },
  );

  it('keep the special ones around a text that is too long', async () => {
    const { tokenizer } = await readTextFolder(join(FIXTURES, 'bert-mean'));
    const whole = await tokenizer.encodeWhole('argan oil shampoo serum');
    const maker = await TextTokenMaker.of(tokenizer, 5);
    const { tokens, isTruncated } = await maker.tokensOf('argan oil shampoo serum');
    expect(isTruncated).toBe(true);
    expect(tokens).toEqual([...whole.slice(0, 4), whole.at(-1)]);
  });

  /** Words of several scripts, some without spaces, some endless, some that leave no token. */
  const PARTS = [
    ...['argan ', 'Crème brûlée ', '有机护发油', 'Увлажняющий\n', 'शैम्पू  ', '샴푸 ', '🧴', '\u00ad'],
    ...['e\u0301', 'x'.repeat(90), 'antidisestablishmentarianism', '. ', '\t', '50% (new) '],
  ];
  /** A text of about so many characters by a seed. */
  function drawnText(seed: number, characters: number): string {
    let state = seed;
    const draw = (count: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * count);
    };
    // A few parts a text, so that some texts have no spaces at all.
    const parts = Array.from({ length: 1 + draw(4) }, () => PARTS[draw(PARTS.length)] as string);
    let text = '';
    while (text.length < characters) text += parts[draw(parts.length)];
    return text;
  }

  it.each(FOLDERS)('of a long text are the first of all its tokens: %s', async (name) => {
    const { tokenizer } = await readTextFolder(join(FIXTURES, name));
    const maker = await TextTokenMaker.of(tokenizer, 40);
    const { tokens: around } = await maker.tokensOf('a');
    const specials = around.length - (await tokenizer.encode('a')).length;
    for (let seed = 1; seed <= 10; seed++) {
      const text = drawnText(seed, 4000);
      const { tokens, isTruncated } = await maker.tokensOf(text);
      const own = await tokenizer.encode(text);
      expect(isTruncated, `seed ${seed}`).toBe(own.length > 40 - specials);
      const whole = await tokenizer.encodeWhole(text);
      const expected = isTruncated ? own.slice(0, 40 - specials) : whole;
      expect(isTruncated ? tokens.slice(...sliceOfOwn(tokens, own)) : tokens).toEqual(expected);
    }
    function sliceOfOwn(tokens: readonly number[], own: readonly number[]): [number, number] {
      const start = tokens.indexOf(own[0] as number, tokens[0] === own[0] ? 0 : 1);
      return [start, start + 40 - specials];
    }
  });

  it('are made of no more of a text than can be kept', async () => {
    const read: number[] = [];
    const encode = async (text: string) => {
      read.push(text.length);
      return text.split(' ').flatMap((word) => (word === '' ? [] : [word.length]));
    };
    const maker = await TextTokenMaker.of({ encode, encodeWhole: encode }, 10);
    read.length = 0;
    const { tokens, isTruncated } = await maker.tokensOf('oil '.repeat(16_384));
    expect([tokens.length, isTruncated]).toEqual([10, true]);
    expect(read.reduce((sum, length) => sum + length, 0)).toBeLessThan(4096);
    read.length = 0;
    // Few tokens in many characters: the text is read on until there are enough, or to its end.
    const sparse = `${' '.repeat(60_000)}oil oil`;
    expect(await maker.tokensOf(sparse)).toEqual({ tokens: [3, 3], isTruncated: false });
    expect(read.reduce((sum, length) => sum + length, 0)).toBeLessThan(3 * sparse.length);
  });

  it('need a tokenizer', async () => {
    await expect(readTextFolder(FIXTURES)).rejects.toMatchObject({
      code: 'TOKENIZER_INVALID',
      message: expect.stringContaining('tokenizer.json'),
    });
  });
});

describe('a pass', () => {
  const cost = () => new PassCost({ row: 1000, pair: 1 });
  const waiting = (...lengths: number[]) => lengths.map((length) => ({ tokens: { length } }));
  const bounds = { tokensMax: 100, textsMax: 3, timeTargetUs: 1e9 };

  it('takes texts in their order as far as tokens, texts and predicted time allow', () => {
    expect(fillPass(waiting(50, 50, 1), cost(), bounds).texts).toBe(2);
    expect(fillPass(waiting(1, 1, 1, 1), cost(), bounds).texts).toBe(3);
    const oneText = cost().predictUs(cost().workOf(10));
    const short = { ...bounds, timeTargetUs: 2.5 * oneText };
    expect(fillPass(waiting(10, 10, 10), cost(), short).texts).toBe(2);
    expect(fillPass(waiting(), cost(), bounds).texts).toBe(0);
  });

  it('takes one text, however long that is predicted to take', () => {
    expect(fillPass(waiting(90, 1), cost(), { ...bounds, timeTargetUs: 0 }).texts).toBe(1);
  });

  it('is predicted by what passes took', () => {
    const own = cost();
    for (let i = 0; i < 40; i++) own.note(1e6, 500);
    expect(own.predictUs(2e6)).toBeCloseTo(1000, 0);
  });
});

describe('numbers of vectors', () => {
  it('are little-endian bytes', () => {
    const bytes = bytesOf([Float32Array.of(1.5, -2), Float32Array.of(0.1)], 'f32');
    expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual([1.5, -2, Math.fround(0.1)]);
    expect(bytesOf([Float32Array.of(1, -2)], 'f16')).toEqual(Buffer.from([0, 0x3c, 0, 0xc0]));
  });

  it('in half precision are the nearest, ties to even', () => {
    const numberOf = (bits: number) => {
      const [exponent, mantissa] = [(bits >> 10) & 31, bits & 1023];
      const size =
        exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15);
      return bits & 0x8000 ? -size : size;
    };
    for (let bits = 0; bits < 0x7bff; bits += 7) {
      const [value, next] = [numberOf(bits), numberOf(bits + 1)];
      expect(halfOf(value)).toBe(bits);
      expect(halfOf((value + next) / 2)).toBe(bits % 2 === 0 ? bits : bits + 1);
      expect(halfOf(-(value + (next - value) * 0.4))).toBe(bits | 0x8000);
    }
    expect(halfOf(1e6)).toBe(0x7c00);
    expect(halfOf(Number.NEGATIVE_INFINITY)).toBe(0xfc00);
    expect(halfOf(Number.NaN) & 0x7fff).toBeGreaterThan(0x7c00);
    expect(halfOf(1e-9)).toBe(0);
  });

  it('may be fewer, of length 1 again where the vectors have it', () => {
    const vector = Float32Array.of(0.6, 0.8, 0);
    expect([...shorten(vector, 1, true)]).toEqual([1]);
    expect([...shorten(vector, 2, false)]).toEqual([...vector.slice(0, 2)]);
    expect(shorten(vector, undefined, true)).toBe(vector);
    expect([...normalise(Float32Array.of(0, 0))]).toEqual([0, 0]);
  });
});

describe('models of texts', () => {
  let models: EmbeddingModels;
  beforeAll(async () => {
    models = await EmbeddingModels.open({
      specs: FOLDERS.map((name) => ({ name, path: join(FIXTURES, name) })),
      computeType: 'f32',
      limits: TEXT_LIMITS,
    });
  });
  afterAll(() => models.close());
  const ask = (request: Partial<Parameters<EmbeddingModels['embed']>[0]>) =>
    models.embed({ model: '', texts: ['a'], dimensions: undefined, ...request });

  it.each(FOLDERS)('make the vectors of transformers from texts: %s', async (name) => {
    const cases = casesOf(name).filter(({ text }) => text !== undefined);
    const texts = cases.map(({ text = '' }) => text);
    const { vectors, tokens, modelDigest } = await ask({ model: name, texts });
    expect(tokens).toBe(cases.reduce((sum, one) => sum + one.tokens.length, 0));
    expect(modelDigest).toMatch(/^[0-9a-f]{64}$/);
    for (const [i, { vector }] of cases.entries()) {
      const ours = vectors[i] as Float32Array;
      if (vector.length > 1) expect(cosine(ours, vector)).toBeGreaterThan(0.99999);
      for (const [j, number] of vector.entries()) expect(ours[j]).toBeCloseTo(number, 4);
    }
  });

  it('make the same bits of a text alone and among others', async () => {
    const texts = casesOf('modernbert-mean').flatMap(({ text = [] }) => text);
    const all = await Promise.all([
      ask({ model: 'modernbert-mean', texts }),
      ...texts.map((text) => ask({ model: 'modernbert-mean', texts: [text] })),
    ]);
    const [together, ...alone] = all.map(({ vectors }) => vectors);
    expect(alone.map(([vector]) => vector)).toEqual(together);
  });

  it('count texts, tokens and truncated texts', async () => {
    const before = models.states().find(({ model }) => model === 'bert-mean');
    const { truncated } = await ask({ texts: ['a', 'argan oil '.repeat(300)] });
    const after = models.states().find(({ model }) => model === 'bert-mean');
    expect(truncated).toBe(1);
    expect(after?.texts).toBe((before?.texts ?? 0) + 2);
    expect(after?.truncated).toBe((before?.truncated ?? 0) + 1);
    expect(after?.passes).toBeGreaterThan(before?.passes ?? 0);
    expect(after?.depth).toBe(0);
  });

  it.each([
    [{ texts: [] }, 'texts: expected 1..16 texts, got 0'],
    [{ texts: Array<string>(17).fill('a') }, 'texts: expected 1..16 texts, got 17'],
    [{ texts: ['a', ' \n'] }, 'texts[1]: expected a text that is not empty'],
    [{ texts: ['ab'.repeat(4096)] }, 'texts[0]: expected at most 4096 bytes, got 8192'],
    [{ model: 'none' }, 'model: expected one of bert-mean, '],
    [{ dimensions: 0 }, 'dimensions: expected an integer of 1..36, got 0'],
    [{ dimensions: 37 }, 'dimensions: expected an integer of 1..36, got 37'],
    [{ dimensions: 1.5 }, 'dimensions: expected an integer of 1..36, got 1.5'],
  ])('refuse what is out of bounds: %j', async (request, message) => {
    await expect(ask(request)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it('are refused where the process has none', async () => {
    await expect(
      NO_MODELS.embed({ model: '', texts: ['a'], dimensions: undefined }),
    ).rejects.toMatchObject({ message: expect.stringContaining('embedding.models') });
  });
});

describe('the queue of a model', () => {
  /** A model whose passes end when the test says so. */
  async function slowModel(queueTextsMax = 8) {
    const passes: { readonly texts: number; readonly end: () => void }[] = [];
    const embedder = {
      info: { dimension: 1, rowWork: 1, pairWork: 0, isNormalised: false } as EmbedderInfo,
      embed: (texts: readonly ArrayLike<number>[]) =>
        new Promise<Awaited<ReturnType<NativeEmbedder['embed']>>>((resolve) => {
          const vectors = Float32Array.from(texts, ({ length }) => length);
          passes.push({ texts: texts.length, end: () => resolve({ vectors, computeUs: 1 }) });
        }),
      close: () => undefined,
    };
    const tokenizer = {
      encode: async (text: string) => [...text].map(() => 1),
      encodeWhole: async (text: string) => [...text].map(() => 1),
    };
    const maker = await TextTokenMaker.of(tokenizer, 10);
    const limits = { ...TEXT_LIMITS, textsMax: 2, queueTextsMax };
    return { model: new EmbeddingModel(embedder, maker, limits), passes };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const call = (signal: AbortSignal, endsAtMs = Number.POSITIVE_INFINITY) => ({ signal, endsAtMs });

  it('fills passes in the order of arrival, two at a time', async () => {
    const { model, passes } = await slowModel();
    const asked = [model.embed(['a', 'bb', 'ccc']), model.embed(['dddd', 'eeeee', 'ffffff'])];
    await settled();
    expect(passes.map(({ texts }) => texts)).toEqual([2, 2]);
    expect(model.depth).toBe(2);
    passes[0]?.end();
    await settled();
    expect(passes.map(({ texts }) => texts)).toEqual([2, 2, 2]);
    for (const { end } of passes) end();
    const answers = await Promise.all(asked);
    expect(answers.flatMap(({ vectors }) => vectors.map(([length]) => length))).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
  });

  it('refuses more than may wait, and nothing of the request is computed', async () => {
    const { model, passes } = await slowModel(2);
    await expect(model.embed(['a', 'b', 'c'])).rejects.toMatchObject({ code: 'ENGINE_OVERLOADED' });
    await settled();
    expect(passes).toEqual([]);
  });

  it('leaves out texts whose caller has gone or whose time is over', async () => {
    const { model, passes } = await slowModel();
    const gone = new AbortController();
    const first = model.embed(['a', 'b', 'c', 'd']);
    await settled();
    const left = expect(model.embed(['e'], call(gone.signal))).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    const hasTime = new AbortController().signal;
    const late = expect(model.embed(['f'], call(hasTime, 0))).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    gone.abort();
    await settled();
    for (const { end } of passes) end();
    await first;
    await Promise.all([left, late]);
    expect(passes.length).toBe(2);
  });

  it('fails those that wait when it is closed', async () => {
    const { model } = await slowModel();
    const asked = model.embed(['a', 'b', 'c', 'd', 'e']);
    const failed = expect(asked).rejects.toBeInstanceOf(TesseraError);
    await settled();
    model.close();
    await failed;
  });
});

describe('embedding.models', () => {
  it('names folders', () => {
    expect(parseModelSpecs(' a=x/y ; b/c=z;', 'embedding.models')).toEqual([
      { name: 'a', path: 'x/y' },
      { name: 'b/c', path: 'z' },
    ]);
  });
  it.each(['a', '=x', 'a=', 'a=x;a=y', 'ä=x'])('refuses %s', (text) => {
    expect(() => parseModelSpecs(text, 'embedding.models')).toThrow(/embedding\.models/);
  });
});
