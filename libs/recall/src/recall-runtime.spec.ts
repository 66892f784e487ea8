import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import {
  createRecallRuntime,
  type RecallRequest,
  type RecallRuntimeOptions,
} from '@tessera/recall';
import { temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';

const FIXTURE = 'test/fixtures/parity/qwen3-tied';
const BASES = [3, 15, 27];
const BOS = 83;

interface FixtureItem {
  readonly item_id: string;
  readonly sid: number[];
}
const ITEMS = readFileSync(join(FIXTURE, 'catalogue.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FixtureItem);
const [RECORDED] = JSON.parse(readFileSync(join(FIXTURE, 'cases.json'), 'utf8'));

const TEMPLATE = {
  version: 1,
  name: 'tiny',
  levels: BASES.map((base) => ({ base })),
  segments: [{ text: 'bos' }, { slot: 'history' }],
};
const TOKENIZER = {
  added_tokens: [{ id: BOS, content: 'bos' }],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  model: { type: 'WordLevel', vocab: { '<unk>': 0, bos: BOS }, unk_token: '<unk>' },
};

let folder = temporaryFolder({});
afterEach(() => folder.remove());

function options(files: Record<string, unknown> = {}): RecallRuntimeOptions {
  const copied = ['config.json', 'model.safetensors', 'catalogue.jsonl'].map((name) => [
    name,
    readFileSync(join(FIXTURE, name)),
  ]);
  folder = temporaryFolder({
    ...Object.fromEntries(copied),
    'prompt.json': TEMPLATE,
    'tokenizer.json': TOKENIZER,
    'users.json': { u: [ITEMS[0]?.item_id, ITEMS[1]?.item_id], v: ['gone'] },
    ...files,
  });
  return {
    modelPath: folder.path,
    computeType: 'f32',
    activationScalesPath: '',
    catalogueSources: [{ path: join(folder.path, 'catalogue.jsonl'), domain: '' }],
    titlesPath: '',
    usersPath: join(folder.path, 'users.json'),
    cacheDir: join(folder.path, 'cache'),
    engine: {
      threadCount: 1,
      threadPlacement: 'free',
      queueCapacity: 8,
      batchRequestsMax: 4,
      batchRowsMax: 1024,
      prefillChunkTokens: 16,
      passTimeTargetUs: 0,
      batching: 'continuous',
      kvBytesMax: 2 ** 30,
      promptTokensMax: 64,
      widthMax: 64,
      resultCountMax: 100,
      scoreItemsMax: 64,
    },
    recall: {
      widths: [50],
      resultCount: 10,
      itemsPerSid: 100,
      scoreNorm: 'full',
      historyItemsMax: 100,
    },
    onProgress: () => undefined,
  };
}

function request(change: Partial<RecallRequest>): RecallRequest {
  return {
    requestId: '',
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: false,
    ...change,
  };
}
const context = () => ({ signal: new AbortController().signal, budgetUs: 30e6 });

describe('the recall runtime on the native engine', () => {
  it('prompts with the tokens of the history and answers the recorded paths', async () => {
    const showsNothing = { ...TEMPLATE, segments: [{ text: 'bos' }, { slot: 'scene', key: 'x' }] };
    const runtime = await createRecallRuntime(options({ 'prompt.json': showsNothing }));
    const wish = { userId: 'v', resultCount: 100, widths: [50] };
    const answer = await runtime.recall(request(wish), context());
    const sids = answer.items.map((item) => item.sid.join());
    expect([...new Set(sids)]).toEqual(
      RECORDED.expected.map((path: { sid: number[] }) => path.sid.join()),
    );
    expect(answer).toMatchObject({ promptTokens: 1, skippedItems: 1, short: true });
    await runtime.close();
  });

  it('answers a user as it answers the same history', async () => {
    const runtime = await createRecallRuntime(options());
    const history = ITEMS.slice(0, 2).map((item) => item.item_id);
    const byUser = await runtime.recall(request({ userId: 'u' }), context());
    const byHistory = await runtime.recall(request({ history }), context());
    expect(byUser.items).toEqual(byHistory.items);
    expect(byUser.promptTokens).toBe(1 + 2 * BASES.length);
    expect(byUser.versions).toEqual(byHistory.versions);
    const { timings } = byUser;
    const stages = Object.entries(timings).filter(([name]) => name !== 'totalUs');
    const sum = stages.reduce((total, [, us]) => total + us, 0);
    expect(sum).toBeLessThanOrEqual(timings.totalUs);
    expect(await runtime.sampleUserIds(5)).toEqual(['u', 'v']);
    expect(runtime.engineStats().completed).toBe(2);
    await runtime.close();
  });

  it('cancels in the engine when the caller goes away, and serves the next', async () => {
    const runtime = await createRecallRuntime(options());
    const caller = new AbortController();
    const run = runtime.recall(request({ userId: 'u' }), { ...context(), signal: caller.signal });
    caller.abort();
    await expect(run).rejects.toMatchObject({ code: 'CANCELLED' });
    const answer = await runtime.recall(request({ userId: 'u' }), context());
    expect(answer.items).toHaveLength(10);
    await runtime.close();
  });

  it('refuses after a drain, and may be closed twice', async () => {
    const runtime = await createRecallRuntime(options());
    const run = runtime.recall(request({ userId: 'u' }), context());
    await expect(run).resolves.toMatchObject({ short: false });
    await runtime.drain(1000);
    const late = runtime.recall(request({ userId: 'u' }), context());
    await expect(late).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await runtime.close();
    await runtime.close();
  });

  it.each<[string, Record<string, unknown>]>([
    ['PROMPT_TEMPLATE_INVALID', { 'prompt.json': { ...TEMPLATE, version: 3 } }],
    ['PROMPT_TEMPLATE_INVALID', { 'prompt.json': { ...TEMPLATE, levels: [{ base: 3 }] } }],
    ['TOKENIZER_INVALID', { 'tokenizer.json': '{' }],
    [
      'TOKENIZER_INVALID',
      { 'tokenizer.json': { ...TOKENIZER, added_tokens: [{ id: 97, content: 'bos' }] } },
    ],
    ['BEHAVIOUR_INVALID', { 'users.json': [] }],
    ['CATALOGUE_INVALID', { 'catalogue.jsonl': '{"item_id": "1", "sid": [1]}\nx' }],
    ['MODEL_INVALID', { 'config.json': { architectures: ['Nothing'], model_type: 'nothing' } }],
    [
      'REQUEST_INVALID',
      { 'prompt.json': { ...TEMPLATE, levels: BASES.map(() => ({ base: 1e9 })) } },
    ],
  ])('gives %s for a bad file and closes what it had opened', async (code, files) => {
    const error = await createRecallRuntime(options(files)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TesseraError);
    expect(error.code).toBe(code);
  });
});
