import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNothingHeld } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Catalogue } from './catalogue.js';
import type { Binding, EngineAdapter, EngineRequest } from './engine.js';
import { buildCatalogue, openCatalogue } from './native-catalogue.js';
import { NativeEngine } from './native-engine.js';

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures', import.meta.url));
const MODEL = join(FIXTURES, 'parity', 'qwen3-tied');
const LIMITS = { rankMax: 128, normMax: 100 };

const [{ levelTokenBase }] = JSON.parse(readFileSync(join(MODEL, 'cases.json'), 'utf8')) as [
  { readonly levelTokenBase: readonly number[] },
];

let folder: string;
let catalogue: Catalogue;
let engine: NativeEngine;
let binding: Binding;

const fixture = (name: string): string => join(FIXTURES, 'adapters', name);

function recall(adapter?: EngineAdapter, change: Partial<EngineRequest> = {}) {
  return engine.recall({
    binding,
    adapter,
    promptTokens: Int32Array.from({ length: 90 }, (_, index) => 3 + ((index * 7) % 40)),
    widths: [8],
    resultCount: 8,
    itemsPerSid: 1,
    scoreNorm: 'full',
    priority: 'normal',
    budgetUs: 60e6,
    kv: { userId: 'ann', prefixTokens: 0, keepTokens: 80 },
    ...change,
  });
}

async function paths(adapter?: EngineAdapter) {
  return (await recall(adapter)).paths;
}

async function open(adapterBytesMax: number, versionsBackMax = 0): Promise<void> {
  engine = await NativeEngine.open({
    modelPath: MODEL,
    computeType: 'f32',
    activationScalesPath: '',
    threadCount: 1,
    queueCapacity: 16,
    batchRequestsMax: 8,
    batchRowsMax: 256,
    prefillChunkTokens: 64,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: 2 ** 28,
    kv: {
      pool: 'on',
      deviceBytes: 2 ** 24,
      hostBytes: 0,
      diskBytes: 0,
      path: '',
      blockCodec: 'exact',
      versionsBackMax,
      readThreads: 1,
      storeQueueMax: 16,
      prefetchQueueMax: 16,
    },
    promptTokensMax: 128,
    widthMax: 64,
    resultCountMax: 64,
    scoreItemsMax: 64,
    adapterBytesMax,
  });
  const levels = catalogue.summary.levelSizes.map((size, level) =>
    Int32Array.from({ length: size }, (_, code) => (levelTokenBase[level] ?? 0) + code),
  );
  const digests = { template: 't', codebook: 'c' };
  binding = engine.bind(catalogue, { levels, terminal: [] }, digests);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tessera-adapters-'));
  const outputPath = join(folder, 'catalogue.snapshot');
  const sources = [{ path: join(MODEL, 'catalogue.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
});

afterAll(() => {
  catalogue.close();
  rmSync(folder, { recursive: true });
});

beforeEach(() => open(2 ** 24));
afterEach(() => checkNothingHeld(engine).finally(() => engine.close()));

describe('adapters of an engine', () => {
  it('change the answers of those that name them and of nobody else', async () => {
    const before = await paths();
    const [one, two] = await Promise.all([
      engine.loadAdapter(fixture('all-linear'), LIMITS),
      engine.loadAdapter(fixture('tokens-tied'), LIMITS),
    ]);
    expect(one).toMatchObject({ rankMax: 4, targetCount: 14, replacedRows: 0 });
    expect(two).toMatchObject({ rankMax: 2, targetCount: 4, replacedRows: 4 });
    expect(engine.adapterArena()).toMatchObject({
      usedBytes: one.bytes + two.bytes,
      maxBytes: 2 ** 24,
      adapters: 2,
    });
    const alone = [before, await paths(one), await paths(two)];
    expect(alone[1]).not.toEqual(alone[0]);
    expect(alone[2]).not.toEqual(alone[1]);
    const together = await Promise.all([one, undefined, two, two, undefined, one].map(paths));
    expect(together).toEqual([1, 0, 2, 2, 0, 1].map((index) => alone[index]));
  });

  it('keep keys and values of their own, which go with them', async () => {
    const one = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    await recall();
    expect((await recall(one)).kv.deviceTokens).toBe(0);
    expect((await recall(one)).kv.deviceTokens).toBe(80);
    expect(engine.kvPool.inspect('ann')).toHaveLength(2);
    engine.prefetch(binding, 'ann', one).release();
    engine.releaseAdapter(one);
    const again = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    expect(again.digest).toBe(one.digest);
    expect((await recall(again)).kv.deviceTokens).toBeLessThanOrEqual(80);
  });

  it('go on with keys and values of those before, also of one that was never asked', async () => {
    await engine.close();
    await open(2 ** 24, 2);
    const [one, two, three] = [
      await engine.loadAdapter(fixture('all-linear'), LIMITS),
      await engine.loadAdapter(fixture('tokens-tied'), LIMITS),
      await engine.loadAdapter(fixture('patterns-rslora'), LIMITS),
    ] as const;
    await recall(one);
    engine.succeedAdapter(two, one);
    engine.succeedAdapter(three, two);
    engine.releaseAdapter(one);
    await engine.kvPool.checkIntegrity();
    const exact = { userId: 'ann', prefixTokens: 0, keepTokens: 0, wantsExact: true };
    const alone = await recall(three, { kv: exact });
    expect(alone.kv).toMatchObject({ deviceTokens: 0, versionsBack: 0 });
    const heir = await recall(three);
    expect(heir.kv).toMatchObject({ deviceTokens: 80, inheritedTokens: 80, versionsBack: 2 });
    expect(heir.paths).not.toEqual(alone.paths);
    expect(engine.kvPool.metrics()).toMatchObject({ inheritedTokens: 80, inheritedChains: 1 });
    expect(engine.kvPool.inspect('ann')).toMatchObject([{ tokens: 80, versionsBack: 2 }]);
    expect(() => engine.succeedAdapter(three, one)).toThrow(/adapter/);
  });

  it('serve those that named them before they were released', async () => {
    const one = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    const expected = await paths(one);
    const running = [one, one, one].map(paths);
    engine.releaseAdapter(one);
    expect(await Promise.all(running)).toEqual([expected, expected, expected]);
    expect(engine.adapterArena()).toMatchObject({ usedBytes: 0, adapters: 0 });
    await expect(recall(one)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(() => engine.releaseAdapter(one)).toThrow(/adapter/);
  });

  it('are there once when loaded twice, and until they are released twice', async () => {
    const elsewhere = join(folder, 'copy');
    cpSync(fixture('all-linear'), elsewhere, { recursive: true });
    const one = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    const same = await engine.loadAdapter(elsewhere, LIMITS);
    expect(same).toEqual(one);
    expect(engine.adapterArena().adapters).toBe(1);
    engine.releaseAdapter(one);
    expect((await paths(same)).length).toBeGreaterThan(0);
    engine.releaseAdapter(same);
    expect(engine.adapterArena().adapters).toBe(0);
  });

  it('are refused with code and reason, and the engine serves on', async () => {
    const broken = join(folder, 'broken');
    cpSync(fixture('all-linear'), broken, { recursive: true });
    const load = (path: string, limits = LIMITS) => engine.loadAdapter(path, limits);
    await expect(load(join(folder, 'absent'))).rejects.toMatchObject({ code: 'ADAPTER_NOT_FOUND' });
    await expect(load(fixture('tokens-untied'))).rejects.toMatchObject({ code: 'ADAPTER_INVALID' });
    await expect(load(fixture('all-linear'), { ...LIMITS, rankMax: 3 })).rejects.toMatchObject({
      code: 'ADAPTER_INVALID',
      message: expect.stringContaining('rank of at most 3'),
    });
    await expect(load(fixture('all-linear'), { ...LIMITS, rankMax: 0.5 })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
    const tensors = join(broken, 'adapter_model.safetensors');
    writeFileSync(tensors, readFileSync(tensors).subarray(0, 1000));
    await expect(load(broken)).rejects.toMatchObject({ code: 'ADAPTER_CORRUPT' });
    expect(engine.adapterArena()).toMatchObject({ usedBytes: 0, adapters: 0 });
    expect((await paths()).length).toBeGreaterThan(0);
  });

  it('find no room in an arena that is full', async () => {
    const { bytes } = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    await engine.close();
    await open(bytes + 1000);
    const one = await engine.loadAdapter(fixture('all-linear'), LIMITS);
    await expect(engine.loadAdapter(fixture('patterns-rslora'), LIMITS)).rejects.toMatchObject({
      code: 'ADAPTER_ARENA_FULL',
      message: expect.stringMatching(/at most 1000 bytes .* got \d+/),
    });
    engine.releaseAdapter(one);
    await expect(engine.loadAdapter(fixture('tokens-tied'), LIMITS)).resolves.toBeDefined();
  });
});
