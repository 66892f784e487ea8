import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { PairTokenMaker } from './domain/pair-tokens.js';
import { isCrossEncoder, openCrossEncoder, type RelevanceRequest } from './index.js';

const FIXTURES = 'test/fixtures/cross-encoders';
const MODELS = ['bert', 'xlm-roberta', 'modernbert'];
const BUDGET_US = 60e6;

interface Case {
  readonly query: string;
  readonly documents: readonly string[];
  readonly expected: readonly number[];
}

const casesOf = (name: string): readonly Case[] =>
  JSON.parse(readFileSync(join(FIXTURES, name, 'cases.json'), 'utf8'));

const open = (folder: string, queueTextsMax = 100) =>
  openCrossEncoder(folder, {
    computeType: 'f32',
    threadCount: 1,
    documentsMax: 50,
    pairTokensMax: 512,
    tokensMax: 200,
    textsMax: 8,
    timeTargetUs: 5000,
    queueTextsMax,
  });

const asked = (more: Partial<RelevanceRequest>): RelevanceRequest =>
  Object.assign(
    { query: 'shampoo', documents: ['oil'], tooLong: 'cut', failures: 'each', priority: 'normal' },
    more,
  );

/** Of a score: that of the fixture of ModernBERT is the logit. */
const probability = (name: string, score: number) =>
  name === 'modernbert' ? 1 / (1 + Math.exp(-score)) : score;

const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

/** A fixture with another config.json. */
function changed(name: string, change: object): string {
  const folder = temporaryFolder({});
  folders.push(folder);
  cpSync(join(FIXTURES, name), folder.path, { recursive: true });
  const path = join(folder.path, 'config.json');
  const config = Object.assign({}, JSON.parse(readFileSync(path, 'utf8')), change);
  writeFileSync(path, JSON.stringify(config));
  return folder.path;
}

describe.each(MODELS)('a cross-encoder, %s', (name) => {
  it('scores as transformers in double precision, long documents too', async () => {
    const folder = join(FIXTURES, name);
    expect(await isCrossEncoder(folder)).toBe(true);
    const { relevance, close } = await open(folder);
    for (const { query, documents, expected } of casesOf(name)) {
      const answer = await relevance.score(asked({ query, documents }), { budgetUs: BUDGET_US });
      for (const [i, outcome] of answer.outcomes.entries()) {
        const score = 'error' in outcome ? Number.NaN : outcome.score;
        const error = Math.abs(probability(name, score) - probability(name, expected[i] as number));
        expect(error, `document ${i}`).toBeLessThan(1e-5);
      }
      expect(answer.outcomes.some((of) => 'cutTokens' in of && of.cutTokens > 0)).toBe(true);
    }
    close();
  });

  it('gives a document the same bits in any company and order', async () => {
    const { relevance, close } = await open(join(FIXTURES, name));
    const [{ query, documents }] = casesOf(name) as [Case];
    const scores = async (of: readonly string[]) => {
      const request = asked({ query, documents: of });
      const { outcomes } = await relevance.score(request, { budgetUs: BUDGET_US });
      return outcomes.map((one) => ('error' in one ? one.error.message : one.score));
    };
    const together = await scores(documents);
    const backwards = (await scores([...documents].reverse())).reverse();
    expect(backwards).toEqual(together);
    for (const [i, document] of documents.entries()) {
      expect(await scores([document])).toEqual([together[i]]);
    }
    close();
  });
});

describe('a call', () => {
  const scored = async (more: Partial<RelevanceRequest>, folder = join(FIXTURES, 'bert')) => {
    const { relevance, close } = await open(folder);
    const answer = relevance.score(asked(more), { budgetUs: BUDGET_US });
    return answer.finally(close);
  };
  const long = 'argan oil '.repeat(80);

  it('names what is wrong with it', async () => {
    const wrong: readonly (readonly [string, Partial<RelevanceRequest>])[] = [
      ['query', { query: '  ' }],
      ['query', { query: long }],
      ['query', { query: 'a [SEP] b' }],
      ['instruction', { instruction: 'judge' }],
      ['documents', { documents: [] }],
      ['documents', { documents: Array.from({ length: 51 }, () => 'a') }],
      ['documents[1]', { documents: ['a', 'b [SEP] c'], failures: 'whole' }],
    ];
    for (const [field, more] of wrong) {
      await expect(scored(more)).rejects.toMatchObject({ code: 'REQUEST_INVALID', field });
    }
  });

  it('refuses or cuts a document alone, and never the query', async () => {
    const gone = new TesseraError('ITEM_NOT_FOUND', 'documents[2]: expected an item');
    const documents = ['oil', long, gone, 'oil'];
    const refused = await scored({ documents, tooLong: 'refuse' });
    expect(refused.outcomes.map((of) => ('error' in of ? of.error.code : 'scored'))).toEqual([
      'scored',
      'REQUEST_INVALID',
      'ITEM_NOT_FOUND',
      'scored',
    ]);
    const query = 'shampoo oil '.repeat(6);
    const cut = await scored({ query, documents: [long] });
    expect(cut.outcomes).toMatchObject([{ promptTokens: 64, cutTokens: expect.any(Number) }]);
    const { computedTokens, promptTokens } = await scored({ documents: ['oil', 'oil'] });
    expect(promptTokens).toBe(2 * computedTokens);
  });

  it('is refused whole where more documents wait than may', async () => {
    const { relevance, close } = await open(join(FIXTURES, 'bert'), 3);
    const documents = ['a', 'b', 'c', 'd'];
    const answer = relevance.score(asked({ documents }), { budgetUs: BUDGET_US });
    await expect(answer).rejects.toMatchObject({ code: 'ENGINE_OVERLOADED' });
    close();
  });
});

it('says where token types of a pair depend on the release of transformers', async () => {
  const { notes, close } = await open(join(FIXTURES, 'bert'));
  close();
  expect(notes).toEqual([expect.stringContaining('pairs have two token types')]);
  const { notes: none, close: end } = await open(join(FIXTURES, 'modernbert'));
  end();
  expect(none).toEqual([]);
});

it('wants one label and an activation that it knows', async () => {
  const activation = { sentence_transformers: { activation_fn: 'torch.nn.ReLU' } };
  await expect(open(changed('bert', activation))).rejects.toMatchObject({
    code: 'MODEL_INVALID',
    field: expect.stringContaining('activation_fn'),
  });
  const classifier = 'test/fixtures/encoders/bert-classifier';
  await expect(open(classifier)).rejects.toThrow(/expected a classifier of one label, got 3/);
  expect(await isCrossEncoder('test/fixtures/relevance')).toBe(false);
  expect(await isCrossEncoder('test/fixtures')).toBe(false);
});

it('leaves a pair without segments where its tokenizer writes none', async () => {
  const codes = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
  const encodePair = (segment: number) => async (first: string, second: string) => {
    const [a, b] = [codes(first), codes(second)];
    const ids = [1, ...a, 2, 3, ...b, 2];
    return { ids, segments: ids.map((_, at) => (at < a.length + 3 ? 0 : segment)) };
  };
  const encode = async (text: string) => codes(text);
  const pairOf = async (segment: number) => {
    const maker = await PairTokenMaker.of({ encode, encodePair: encodePair(segment) }, 9);
    return maker.pairOf(await maker.queryTokens('bc'), 'defgh', 'documents[0]', true);
  };
  const tokens = [1, ...codes('bc'), 2, 3, ...codes('def'), 2];
  expect(await pairOf(1)).toMatchObject({ tokens, secondFrom: 5, cutTokens: 2, documentTokens: 3 });
  expect(await pairOf(0)).toMatchObject({ tokens, secondFrom: tokens.length });
});
