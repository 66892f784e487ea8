/** A model of an encoder and a decoder, served as any other: recall, score, explain, its blocks. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { Service } from './service.js';

const FIXTURE = 'test/fixtures/parity/t5-tied';
const BINS = 10;
const SEPARATOR = 43;
const BEGAN_MS = Date.now() - 3_600_000;
const folder = temporaryFolder({});
const model = join(folder.path, 'model');
let service: Service;

/** All tokens of the fixture's vocabulary of 61: start, end, three levels of ten codes, users. */
function tokenTexts(): string[] {
  const texts = ['<start>', '</s>', '<pad>'];
  for (const level of ['a', 'b', 'c']) {
    for (let code = 0; code < 10; code += 1) texts.push(`<${level}_${code}>`);
  }
  for (let bin = 0; bin < BINS; bin += 1) texts.push(`<user_${bin}>`);
  while (texts.length < 61) texts.push(texts.length === SEPARATOR ? '<sep>' : `<${texts.length}>`);
  return texts;
}

function tokenizer(): object {
  const texts = tokenTexts();
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return {
    version: '1.0',
    added_tokens: texts.map((content, id) => ({ id, content, ...flags, special: true })),
    normalizer: null,
    pre_tokenizer: {
      type: 'ByteLevel',
      add_prefix_space: false,
      trim_offsets: true,
      use_regex: false,
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(texts.map((text, id) => [text, id])),
      merges: [],
    },
  };
}

const template = (last: string) => ({
  version: 1,
  name: 'tiger',
  levels: ['<a_{code}>', '<b_{code}>', '<c_{code}>'],
  item: { suffix: '<sep>' },
  answer: { norm: 'level' },
  segments: [
    { slot: 'user', bins: BINS, before: '<user_', after: '>' },
    { slot: 'history' },
    { text: last },
  ],
  maxPromptTokens: 200,
});

const catalogue = () =>
  readFileSync(join(FIXTURE, 'catalogue.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { item_id: string })
    .filter(({ item_id }) => !item_id.includes('-')); // a second item of a semantic ID

/** Twelve behaviours of each user; three users have the same. */
function behaviours(): object[] {
  const items = catalogue();
  const users = { 3: 9, 13: 9, 4: 9, 11: 0, 12: 1, ada: 2 };
  return Object.entries(users).flatMap(([userId, seed]) =>
    Array.from({ length: 12 }, (_, at) => ({
      userId,
      eventId: `${userId}-${at}`,
      action: 'click',
      timeMs: BEGAN_MS + 1000 * at,
      itemId: items[(seed * 17 + at * 5) % items.length]?.item_id,
    })),
  );
}

function writeModel(last: string): void {
  mkdirSync(model, { recursive: true });
  for (const file of ['config.json', 'model.safetensors', 'catalogue.jsonl']) {
    cpSync(join(FIXTURE, file), join(model, file));
  }
  writeFileSync(join(model, 'tokenizer.json'), JSON.stringify(tokenizer()));
  writeFileSync(join(model, 'prompt.json'), JSON.stringify(template(last)));
}

const start = (more: Readonly<Record<string, string>> = {}) =>
  Service.start(
    {
      ...more,
      TESSERA_MODEL_PATH: model,
      TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
      TESSERA_BEHAVIOURS_STORE: 'embedded',
      TESSERA_BEHAVIOURS_PATH: join(folder.path, 'behaviours'),
    },
    [],
    { printed: /gRPC\s+\S+[\s\S]*\n/ },
  );

interface Answer {
  readonly items: readonly { readonly itemId: string; readonly score: number }[];
  readonly certified: boolean;
  readonly promptTokens: number;
  readonly trimmedItems: number;
  readonly kv: { readonly savedTokens: number; readonly computedTokens: number };
}

async function post<T = Answer>(body: object, path?: string): Promise<T> {
  const { status, json } = await service.post(body, undefined, path);
  expect(json).not.toHaveProperty('code');
  expect(status).toBe(200);
  return json as unknown as T;
}

beforeAll(async () => {
  writeModel('</s><start>');
  service = await start();
  await post({ behaviours: behaviours() }, '/v1/behaviours/append');
});

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

describe('a model of an encoder and a decoder', () => {
  it('gives the best of all items, certified, and their scores', async () => {
    const items = catalogue().map(({ item_id }) => item_id);
    for (const userId of ['11', '12', 'ada']) {
      const { items: found, certified, promptTokens } = await post({ userId, resultCount: 20 });
      const { items: all } = await post({ userId, items }, '/v1/score');
      const best = [...all].sort((a, b) => b.score - a.score).slice(0, 20);
      expect(certified).toBe(true);
      expect(found.map(({ score }) => score)).toEqual(best.map(({ score }) => score));
      expect(promptTokens).toBe(1 + 12 * 4 + 2);
    }
  });

  it('scores by the norm of the folder where a request names none', async () => {
    const asked = { userId: '11', resultCount: 5 };
    const scores = async (more: object) =>
      (await post({ ...asked, ...more })).items.map(({ score }) => score);
    expect(await scores({})).toEqual(await scores({ scoreNorm: 'level' }));
    expect(await scores({})).not.toEqual(await scores({ scoreNorm: 'full' }));
  });

  it('reads the user before the history: another bin is another answer', async () => {
    const scores = async (userId: string) =>
      (await post({ userId, resultCount: 5 })).items.map(({ score }) => score);
    const [three, thirteen, four] = [await scores('3'), await scores('13'), await scores('4')];
    expect(thirteen).toEqual(three);
    expect(four).not.toEqual(three);
  });

  it('finds what the encoder has read as long as there is no news', async () => {
    const userId = '12';
    const before = await post({ userId, resultCount: 20 });
    const again = await post({ userId, resultCount: 20 });
    expect(again.items).toEqual(before.items);
    expect(again.kv.savedTokens).toBe(again.promptTokens - 1);
    const itemId = catalogue()[60]?.item_id;
    const event = { userId, eventId: 'news', itemId, action: 'click', timeMs: Date.now() };
    await post({ behaviours: [event] }, '/v1/behaviours/append');
    const news = await post({ userId, resultCount: 20 });
    expect(news.promptTokens).toBe(again.promptTokens + 4);
    expect([0, news.promptTokens - 1]).toContain(news.kv.savedTokens); // appended meanwhile, or not
    expect(news.items).not.toEqual(again.items);
  });

  it('refuses to start with a prompt that the decoder does not begin behind', async () => {
    await service.stop();
    writeModel('</s>');
    await expect(start()).rejects.toThrow(/start token \(0\) once/);
    writeModel('</s><start>');
  });

  it('shows the newest items of a history that the encoder cannot read in one pass', async () => {
    service = await start({
      TESSERA_ENGINE_BATCH_ROWS_MAX: '32',
      TESSERA_ENGINE_WIDTH_MAX: '32',
    });
    const { promptTokens, trimmedItems, certified } = await post({ userId: '11', resultCount: 5 });
    expect({ promptTokens, trimmedItems, certified }).toEqual({
      promptTokens: 1 + 7 * 4 + 2,
      trimmedItems: 5,
      certified: true,
    });
  });
});
