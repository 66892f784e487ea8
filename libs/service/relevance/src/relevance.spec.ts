import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EngineLogits, headPool, NativeEngine } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { checkNothingHeld, temporaryFolder } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENT_BYTES_MAX, QUERY_BYTES_MAX } from './domain/pair-prompts.js';
import { labelTokens, loadRelevance, Relevance, type RelevanceRequest } from './index.js';

const FOLDER = 'test/fixtures/relevance';
const BUDGET_US = 60e6;

interface Case {
  readonly template: string | null;
  readonly query: string;
  readonly instruction: string | null;
  readonly documents: readonly string[];
  readonly expected: readonly number[];
}

const casesOf = (file: string): readonly Case[] =>
  JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
const CASES = casesOf('cases.json');
const ADAPTED = casesOf('adapter-cases.json');
const ADAPTER_LIMITS = { rankMax: 8, normMax: 1000 };
const LIMITS = { documentsMax: 1000, promptTokensMax: 8192, requestsAtOnce: 128 };

function open(
  computeType: 'f32' | 'bf16',
  batchRequestsMax = 16,
  kv?: ReturnType<typeof headPool>,
  headTokens: Int32Array = new Int32Array(),
): Promise<NativeEngine> {
  return NativeEngine.open({
    modelPath: FOLDER,
    computeType,
    activationScalesPath: '',
    threadCount: 1,
    queueCapacity: 256,
    batchRequestsMax,
    batchRowsMax: 600,
    prefillChunkTokens: 512,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: 2 ** 30,
    promptTokensMax: 8192,
    widthMax: 1,
    resultCountMax: 1,
    scoreItemsMax: 1,
    adapterBytesMax: 1 << 20,
    headTokens,
    ...(kv && { kv }),
  });
}

function asked(given: Partial<RelevanceRequest>): RelevanceRequest {
  const { query = 'red shoes', documents = ['red', 'blue'], instruction, adapter } = given;
  const { tooLong = 'cut', failures = 'each' } = given;
  return { query, instruction, documents, tooLong, failures, priority: 'normal', adapter };
}

async function scoresOf(engine: NativeEngine, of: Case): Promise<readonly number[]> {
  const path = of.template === null ? undefined : join(FOLDER, of.template);
  const relevance = new Relevance({
    engine,
    limits: LIMITS,
    ...(await loadRelevance(FOLDER, path)),
  });
  const instruction = of.instruction ?? undefined;
  const answer = await relevance.score(asked({ ...of, instruction }), { budgetUs: BUDGET_US });
  return answer.outcomes.map((outcome) => {
    if ('error' in outcome) throw outcome.error;
    return outcome.score;
  });
}

const logit = (p: number) => Math.log(p / (1 - p));

describe('scores', () => {
  let f32: NativeEngine;
  let bf16: NativeEngine;
  beforeAll(async () => {
    f32 = await open('f32');
    bf16 = await open('bf16');
  });
  afterAll(async () => {
    await f32.close();
    await bf16.close();
  });

  it.each(CASES.map((of) => [of.template ?? 'no template', of] as const))(
    'are those of transformers in double precision, %s',
    async (_, of) => {
      const scores = await scoresOf(f32, of);
      for (const [i, score] of scores.entries()) {
        expect(Math.abs(score - (of.expected[i] as number)), `document ${i}`).toBeLessThan(1e-5);
      }
    },
  );

  it('are near them with BF16', async () => {
    const errors: number[] = [];
    for (const of of CASES.filter(({ template }) => template === null)) {
      const scores = await scoresOf(bf16, of);
      errors.push(...scores.map((p, i) => Math.abs(logit(p) - logit(of.expected[i] as number))));
    }
    errors.sort((a, b) => a - b);
    expect(errors).toHaveLength(208);
    expect(errors[errors.length >> 1]).toBeLessThan(0.05);
  });
});

describe('a call', () => {
  let engine: NativeEngine;
  let relevance: Relevance;
  beforeAll(async () => {
    engine = await open('f32', 4);
    relevance = new Relevance({ engine, limits: LIMITS, ...(await loadRelevance(FOLDER)) });
  });
  afterAll(() => checkNothingHeld(engine).finally(() => engine.close()));

  const score = (given: Partial<RelevanceRequest>, budgetUs = BUDGET_US) =>
    relevance.score(asked(given), { budgetUs });

  it('leaves a profile for those who split calls', async () => {
    await score({ query: 'q', documents: ['a sentence of some words '.repeat(20)] });
    const { tokenUs, ...profile } = relevance.profile();
    const { documentsMax } = LIMITS;
    expect(profile).toMatchObject({ template: 'qwen3-reranker', documentsMax, backlogUs: 0 });
    expect(tokenUs).toBeGreaterThan(0);
  });

  it('computes what prompts have in common once, and equal documents once', async () => {
    const documents = ['red', 'red shoes', 'red shoes for', 'blue', 'red', 'blue', 'rain'];
    const before = engine.stats().prefillTokens;
    const answer = await score({ documents });
    const computed = engine.stats().prefillTokens - before;
    expect(answer.computedTokens).toBe(computed);
    expect(answer.promptTokens).toBeGreaterThan((5 * computed) / 2);
    const [a, , , b, sameAsA, sameAsB] = answer.outcomes;
    expect(sameAsA).toEqual(a);
    expect(sameAsB).toEqual(b);
  });

  it('gives each document the bits that it has alone', async () => {
    const documents = ['red shoes', 'red shoes for rain', 'phone', 'red'];
    const together = await score({ documents });
    for (const [i, document] of documents.entries()) {
      const alone = await score({ documents: [document] });
      expect(alone.outcomes[0]).toEqual(together.outcomes[i]);
    }
  });

  it('refuses a document that is too long, or cuts it, and no other', async () => {
    const documents = ['red', 'sea '.repeat(9000), 'blue'];
    const cut = (await score({ documents: documents.slice(0, 1) })).outcomes[0];
    const { outcomes } = await score({ documents, tooLong: 'refuse' });
    expect(outcomes[0]).toEqual(cut);
    expect(outcomes[1]).toMatchObject({
      error: { code: 'REQUEST_INVALID', field: 'documents[1]' },
    });
    expect(outcomes[2]).toMatchObject({ promptTokens: expect.any(Number) });
    const huge = await score({
      documents: ['x'.repeat(DOCUMENT_BYTES_MAX + 1)],
      tooLong: 'refuse',
    });
    expect(huge.outcomes[0]).toMatchObject({ error: { field: 'documents[0]' } });
  });

  it('bounds the bytes of what is asked before it makes them into tokens', async () => {
    let made = 0;
    const { tokenizer, ...parts } = await loadRelevance(FOLDER);
    const counting = Object.assign(Object.create(tokenizer), {
      encode: (text: string) => {
        made += text.length;
        return tokenizer.encode(text);
      },
      encodeAside: (text: string) => {
        made += text.length;
        return tokenizer.encodeAside(text);
      },
    });
    const scorer = new Relevance({ engine, limits: LIMITS, tokenizer: counting, ...parts });
    const most = made + QUERY_BYTES_MAX;
    const context = { budgetUs: BUDGET_US };
    for (const field of ['query', 'instruction'] as const) {
      const long = asked({ query: 'q', [field]: 'word '.repeat(180_000) });
      const refused = scorer.score(long, context);
      await expect(refused).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        field,
        message: `${field}: expected at most ${QUERY_BYTES_MAX} bytes, got 900000`,
      });
    }
    expect(made).toBeLessThan(most);
    const emoji = asked({ documents: ['😀'.repeat(165_000)] });
    expect((await scorer.score(emoji, context)).outcomes).toHaveLength(1);
    // Two UTF-16 units for the four bytes of each.
    expect(made).toBeLessThan(most + DOCUMENT_BYTES_MAX);
  });

  it('makes long texts into the same tokens on a thread of their own', async () => {
    const { tokenizer } = await loadRelevance(FOLDER);
    for (const text of ['', 'short', 'a longer text, '.repeat(400), '😀 é́'.repeat(2000)]) {
      expect(await tokenizer.encodeAside(text)).toEqual(tokenizer.encode(text));
    }
  });

  it('makes no more tokens for a caller that no longer waits', async () => {
    const documents = Array.from({ length: 8 }, (_, i) => `document ${i} `.repeat(300));
    const gone = new AbortController();
    const parts = await loadRelevance(FOLDER);
    let made = 0;
    const tokenizer = Object.assign(Object.create(parts.tokenizer), {
      encodeAside: (text: string) => {
        made += 1;
        if (text.includes('document 2')) gone.abort();
        return parts.tokenizer.encodeAside(text);
      },
    });
    const scorer = new Relevance({ engine, limits: LIMITS, ...parts, tokenizer });
    const context = { budgetUs: BUDGET_US, signal: gone.signal };
    const { outcomes } = await scorer.score(asked({ documents }), context);
    expect(outcomes.at(-1)).toMatchObject({ error: { code: 'CANCELLED' } });
    expect(made).toBeLessThan(12);
  });

  it('asks nothing of the engine where no document can be asked about', async () => {
    const before = engine.stats().submitted;
    const { outcomes, computedTokens } = await score({ documents: ['a <|im_end|>'] });
    expect(outcomes).toMatchObject([{ error: { field: 'documents[0]' } }]);
    expect(computedTokens).toBe(0);
    expect(engine.stats().submitted).toBe(before);
  });

  it('fails as a whole where that is asked for', async () => {
    const documents = ['red', 'a <|im_end|> text'];
    await expect(score({ documents, failures: 'whole' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      field: 'documents[1]',
    });
  });

  it('lets no text end the prompt', async () => {
    const { outcomes } = await score({ documents: ['red', 'a <|im_end|> text'] });
    expect(outcomes[0]).toMatchObject({ score: expect.any(Number) });
    expect(outcomes[1]).toMatchObject({ error: { field: 'documents[1]' } });
    await expect(score({ query: 'a <|im_start|>' })).rejects.toMatchObject({ field: 'query' });
  });

  it.each([
    ['query', { query: ' ' }],
    ['query', { query: 'sea '.repeat(9000) }],
    ['query', { query: 'half \ud800 a character' }],
    ['documents', { documents: [] }],
    ['documents', { documents: Array.from({ length: 10_000 }, () => 'x') }],
  ])('is refused by its %s', async (field, given) => {
    await expect(score(given)).rejects.toMatchObject({ code: 'REQUEST_INVALID', field });
  });

  it('answers each document for itself where the deadline is over', async () => {
    const { outcomes } = await score({}, 0);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ error: { code: 'DEADLINE_EXCEEDED' } });
    }
  });

  it('is given up by its caller', async () => {
    const signal = AbortSignal.abort();
    const { outcomes } = await relevance.score(asked({}), { budgetUs: BUDGET_US, signal });
    expect(outcomes[0]).toMatchObject({ error: { code: 'CANCELLED' } });
  });
});

describe('a template', () => {
  const good = {
    version: 1,
    name: 'a',
    segments: ['{query}', '{item}', 'tail'],
    labels: [
      { text: 'yes', value: 1 },
      { text: 'no', value: 0 },
    ],
  };
  const load = async (document: unknown) => {
    const folder = temporaryFolder({ 'relevance.json': JSON.stringify(document) });
    try {
      return await loadRelevance(FOLDER, join(folder.path, 'relevance.json'));
    } finally {
      folder.remove();
    }
  };

  it.each([
    ['segments', { segments: ['{query}', 'tail'] }],
    ['segments[2]', { segments: ['a', '{query}', '{item}'] }],
    ['segments[1]', { segments: ['{query}', '{item} more', 'tail'] }],
    ['segments', { segments: ['{query}{query}', '{item}', 'tail'] }],
    ['labels', { labels: [{ text: 'yes', value: 1 }] }],
    ['labels', { score: 'logOdds', labels: [good.labels[0], { text: 'no', value: 2 }] }],
    ['labels[0].value', { labels: [{ text: 'yes', value: '1' }, good.labels[1]] }],
    ['over', { over: 'all' }],
    ['tail', { tail: 'x' }],
    ['version', { version: 2 }],
  ])('is refused by its %s', async (field, changed) => {
    await expect(load({ ...good, ...changed })).rejects.toMatchObject({
      code: 'PROMPT_TEMPLATE_INVALID',
      field,
    });
  });

  it('is refused where two labels are the same tokens', async () => {
    const labels = [good.labels[0], good.labels[0]];
    await expect(load({ ...good, labels })).rejects.toMatchObject({
      code: 'PROMPT_TEMPLATE_INVALID',
      field: 'labels[1].text',
    });
  });

  it('has labels within the vocabulary of the model, known before an engine is', async () => {
    const files = ['tokenizer.json', 'tokenizer_config.json'];
    const folder = temporaryFolder({
      ...Object.fromEntries(files.map((file) => [file, readFileSync(join(FOLDER, file))])),
      'config.json': { vocab_size: 10 },
    });
    await expect(loadRelevance(folder.path)).rejects.toMatchObject({
      code: 'TOKENIZER_INVALID',
      field: 'tokenizer',
      message: expect.stringMatching(/expected tokens below 10 for the labels, got \d+$/),
    });
    folder.remove();
  });

  it('is needed where the vocabulary has not the tokens of the published one', async () => {
    await expect(loadRelevance('models/demo')).rejects.toMatchObject({
      code: 'PROMPT_TEMPLATE_INVALID',
      field: 'relevance.json',
    });
  });
});

it('tells a failure of the engine from a score', async () => {
  const failing = {
    model: { maxPositions: 8192, vocabSize: 1000, digest: '' },
    relevance: (requests: readonly unknown[]): Promise<EngineLogits>[] =>
      requests.map(() => Promise.reject(new TesseraError('ENGINE_OVERLOADED', 'full'))),
  } as unknown as NativeEngine;
  const parts = await loadRelevance(FOLDER);
  const relevance = new Relevance({ engine: failing, limits: LIMITS, ...parts });
  const { outcomes } = await relevance.score(asked({}), { budgetUs: BUDGET_US });
  expect(outcomes).toHaveLength(2);
  expect(outcomes[0]).toMatchObject({ error: { code: 'ENGINE_OVERLOADED' } });
});

describe('an adapter', () => {
  let engine: NativeEngine;
  let relevance: Relevance;
  const templated = async (template: string | null) => {
    const path = template === null ? undefined : join(FOLDER, template);
    const adapters = new Map([
      ['fits', await engine.loadAdapter(join(FOLDER, 'adapter'), ADAPTER_LIMITS)],
    ]);
    return new Relevance({
      engine,
      limits: LIMITS,
      adapters,
      ...(await loadRelevance(FOLDER, path)),
    });
  };
  beforeAll(async () => {
    engine = await open('f32', 4);
    relevance = await templated(null);
  });
  afterAll(() => engine.close());

  const score = (of: Case, adapter: string | undefined, scorer = relevance) =>
    scorer.score(asked({ query: of.query, documents: of.documents, adapter }), {
      budgetUs: BUDGET_US,
    });

  it.each(ADAPTED.map((of) => [of.template ?? 'no template', of] as const))(
    'changes scores to those of PEFT in double precision, %s',
    async (_, of) => {
      const answer = await score(of, 'fits', await templated(of.template));
      expect(answer).toMatchObject({
        adapter: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      for (const [i, outcome] of answer.outcomes.entries()) {
        const error = Math.abs(Object(outcome).score - (of.expected[i] as number));
        expect(error, `document ${i}`).toBeLessThan(1e-5);
      }
    },
  );

  it('changes nothing for those beside it, whose bits are those of a call alone', async () => {
    const [of] = CASES as [Case];
    const names = [undefined, 'fits', 'base', 'fits', ''];
    const alone = [];
    for (const name of names) alone.push(await score(of, name));
    const together = await Promise.all(names.map((name) => score(of, name)));
    const scores = (answers: readonly { outcomes: readonly object[] }[]) =>
      answers.map(({ outcomes }) => outcomes.map((outcome) => Object(outcome).score));
    expect(scores(together)).toEqual(scores(alone));
    expect(scores(alone)[1]).not.toEqual(scores(alone)[0]);
    expect(scores(alone)[2]).toEqual(scores(alone)[0]);
    const served = together.map(({ adapter }) => adapter !== '');
    expect(served).toEqual([false, true, false, true, false]);
  });

  it('of an unknown name is refused', async () => {
    const refused = { code: 'ADAPTER_NOT_FOUND', field: 'adapter' };
    await expect(score(CASES[0] as Case, 'other')).rejects.toMatchObject(refused);
    expect(() => relevance.checkAdapter('other', 'a.b')).toThrow(
      /^a\.b: expected one of fits, base/,
    );
  });
});

describe('what prompts begin with whatever is asked', () => {
  const documents = ['red shoes', 'a phone', 'rain'];
  const queries = ['red shoes', 'a cheap phone', 'red shoes'];
  let kept: NativeEngine;
  let unkept: NativeEngine;
  beforeAll(async () => {
    kept = await open('f32', 4, headPool(1 << 26));
    unkept = await open('f32', 4);
  });
  afterAll(async () => {
    await kept.close();
    await unkept.close();
  });

  /** One call after the other. */
  async function answers(engine: NativeEngine, adapter?: string, instruction?: string) {
    const adapters = new Map([
      ['fits', await engine.loadAdapter(join(FOLDER, 'adapter'), ADAPTER_LIMITS)],
    ]);
    const parts = await loadRelevance(FOLDER);
    const relevance = new Relevance({
      engine,
      limits: LIMITS,
      adapters,
      ...parts,
    });
    const all = [];
    for (const query of queries) {
      const request = asked({ query, documents, adapter, instruction });
      all.push(await relevance.score(request, { budgetUs: BUDGET_US }));
    }
    return all;
  }

  it('is computed by the first call alone, with the same bits', async () => {
    const [first, ...later] = await answers(kept);
    const [whole, ...others] = await answers(unkept);
    expect(first).toEqual(whole);
    const [second] = later;
    const tokensKept = (others[0]?.computedTokens ?? 0) - (second?.computedTokens ?? 0);
    // Whole blocks of 32 positions.
    expect(tokensKept).toBeGreaterThan(0);
    expect(tokensKept % 32).toBe(0);
    for (const [i, answer] of later.entries()) {
      const alone = others[i] as (typeof others)[number];
      expect(answer.outcomes).toEqual(alone.outcomes);
      expect(alone.computedTokens - answer.computedTokens).toBe(tokensKept);
    }
  });

  it('is that of the adapter and of the instruction', async () => {
    for (const [adapter, instruction] of [['fits'], [undefined, 'Judge ads'], ['fits', 'Judge']]) {
      const own = await answers(kept, adapter, instruction);
      const alone = await answers(unkept, adapter, instruction);
      expect(own.map(({ outcomes }) => outcomes)).toEqual(alone.map(({ outcomes }) => outcomes));
    }
  });
});

describe('a head of the labels alone', () => {
  const partsOf = (template: string | null) =>
    loadRelevance(FOLDER, template === null ? undefined : join(FOLDER, template));

  it('is of the tokens that the template reads, and whole where it reads all', async () => {
    const parts = await partsOf(null);
    const ids = ['yes', 'no'].map((text) => parts.tokenizer.tokenId(text) as number);
    expect([...labelTokens(parts)]).toEqual(ids.sort((a, b) => a - b));
    const { template, tokenizer } = parts;
    const over = { ...template, over: 'vocabulary' as const };
    expect(labelTokens({ template: over, tokenizer })).toHaveLength(0);
    const labels = [...template.labels, { text: 'yes no', value: 0.5 }];
    expect(labelTokens({ template: { ...template, labels }, tokenizer })).toHaveLength(0);
  });

  it.each([...new Set(CASES.map(({ template }) => template))])(
    'gives the bits of a whole one, with adapters and without, %s',
    async (template) => {
      const parts = await partsOf(template);
      const answersOf = async (headTokens: Int32Array) => {
        const engine = await open('bf16', 4, undefined, headTokens);
        try {
          const fits = await engine.loadAdapter(join(FOLDER, 'adapter'), ADAPTER_LIMITS);
          const adapters = new Map([['fits', fits]]);
          const relevance = new Relevance({ engine, limits: LIMITS, adapters, ...parts });
          const { query, documents } = CASES.find((of) => of.template === template) as Case;
          const request = { query, documents };
          return [
            await relevance.score(asked(request), { budgetUs: BUDGET_US }),
            await relevance.score(asked({ ...request, adapter: 'fits' }), { budgetUs: BUDGET_US }),
          ];
        } finally {
          await engine.close();
        }
      };
      expect(await answersOf(labelTokens(parts))).toEqual(await answersOf(new Int32Array()));
    },
  );
});
