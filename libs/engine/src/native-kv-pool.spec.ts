import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@tessera/config';
import { checkNothingHeld } from '@tessera/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Catalogue } from './catalogue.js';
import type { Binding, EngineRequest } from './engine.js';
import { kvOptions } from './engine-limits.js';
import type { EngineOptions } from './engine-options.js';
import type { KvPoolOptions, KvPrefetch, KvUse } from './kv-pool.js';
import { buildCatalogue, openCatalogue } from './native-catalogue.js';
import { NativeEngine } from './native-engine.js';

const MODEL = fileURLToPath(new URL('../../../test/fixtures/parity/qwen3-tied', import.meta.url));

interface RecordedCase {
  readonly levelTokenBase: readonly number[];
}

const [{ levelTokenBase }] = JSON.parse(readFileSync(join(MODEL, 'cases.json'), 'utf8')) as [
  RecordedCase,
];
const PROMPT = Int32Array.from({ length: 90 }, (_, index) => 3 + ((index * 7) % 40));
const DIGESTS = { template: 't', codebook: 'c' };

let folder: string;
let catalogue: Catalogue;
let engine: NativeEngine;
let binding: Binding;

function options(kv: Partial<KvPoolOptions> = {}): EngineOptions {
  return {
    modelPath: MODEL,
    computeType: 'f32',
    activationScalesPath: '',
    threadCount: 1,
    queueCapacity: 4,
    batchRequestsMax: 2,
    batchRowsMax: 256,
    prefillChunkTokens: 32,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: 2 ** 28,
    kv: {
      pool: 'on',
      deviceBytes: 2 ** 24,
      hostBytes: 0,
      diskBytes: 2 ** 24,
      path: join(folder, 'kv'),
      blockCodec: 'exact',
      versionsBackMax: 0,
      readThreads: 1,
      storeQueueMax: 16,
      prefetchQueueMax: 16,
      ...kv,
    },
    promptTokensMax: 128,
    widthMax: 64,
    resultCountMax: 64,
    scoreItemsMax: 64,
  };
}

async function open(kv: Partial<KvPoolOptions> = {}): Promise<void> {
  engine = await NativeEngine.open(options(kv));
  const levels = catalogue.summary.levelSizes.map((size, level) =>
    Int32Array.from({ length: size }, (_, code) => (levelTokenBase[level] ?? 0) + code),
  );
  binding = engine.bind(catalogue, { levels, terminal: [] }, DIGESTS);
}

async function restart(kv: Partial<KvPoolOptions> = {}): Promise<void> {
  await engine.drain(10_000);
  await engine.close();
  await open(kv);
}

const use = (change: Partial<KvUse> = {}): KvUse => ({
  userId: 'ann',
  prefixTokens: 0,
  keepTokens: 80,
  ...change,
});

function recall(
  kv?: KvUse,
  change: Partial<EngineRequest> = {},
  signal = new AbortController().signal,
) {
  const request: EngineRequest = {
    binding,
    promptTokens: PROMPT,
    widths: [8],
    resultCount: 8,
    itemsPerSid: 1,
    scoreNorm: 'full',
    priority: 'normal',
    budgetUs: 60e6,
    ...(kv === undefined ? {} : { kv }),
    ...change,
  };
  return engine.recall(request, signal);
}

/** A prefetch that has ended; the test's own time limit ends a vain wait. */
async function broughtUp(userId: string): Promise<KvPrefetch> {
  const prefetch = engine.prefetch(binding, userId);
  for (;;) {
    const [chain] = engine.kvPool.inspect(userId);
    if (chain !== undefined && chain.deviceTokens === chain.tokens) return prefetch;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tessera-kv-pool-'));
  const outputPath = join(folder, 'catalogue.snapshot');
  const sources = [{ path: join(MODEL, 'catalogue.jsonl'), domain: '' }];
  await buildCatalogue({ sources, titlesPath: '', levelSizes: [], outputPath }, () => undefined);
  catalogue = await openCatalogue(outputPath);
});
afterAll(() => {
  catalogue.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => open());
afterEach(async () => {
  await checkNothingHeld(engine).finally(() => engine.close());
  rmSync(join(folder, 'kv'), { recursive: true, force: true });
});

describe('the KV pool of an engine', () => {
  it('finds on the device what a user left, and answers as without it', async () => {
    const plain = await recall();
    expect(plain.kv).toMatchObject({ deviceTokens: 0, hostTokens: 0, diskTokens: 0 });
    const first = await recall(use());
    const second = await recall(use());
    expect(first.kv.deviceTokens).toBe(0);
    expect(second.kv.deviceTokens).toBe(80);
    expect(second.kv.tiers).toEqual([
      { tier: 'device', tokens: 80 },
      { tier: 'host', tokens: 0 },
      { tier: 'disk', tokens: 0 },
    ]);
    expect(second.items).toEqual(plain.items);
    expect(second.paths).toEqual(plain.paths);
    expect((await recall(use({ userId: 'bob' }))).kv.deviceTokens).toBe(0);
    const { tiers, chains } = engine.kvPool.metrics();
    expect(chains).toBe(2);
    expect(tiers.map(({ tier }) => tier)).toEqual(['device', 'host', 'disk']);
    expect(tiers[0]).toMatchObject({ hitTokens: 80, usedBlocks: 6 });
  });

  it('finds on disk what was there before a restart, brought up meanwhile', async () => {
    const first = await recall(use());
    await restart();
    expect(engine.kvPool.inspect('ann')).toMatchObject([{ tokens: 80, durableTokens: 80 }]);
    const second = await recall(use({ prefetch: await broughtUp('ann') }));
    expect(second.kv).toMatchObject({ diskTokens: 80, lossy: false });
    expect(second.paths).toEqual(first.paths);
    expect((await recall(use())).kv.deviceTokens).toBe(80);
  });

  it('declares what was read from blocks of 8 bits, and nothing else', async () => {
    const exact = await recall(use());
    await restart({ blockCodec: 'int8' });
    expect(engine.kvPool.inspect('ann')).toEqual([]);
    const computed = await recall(use());
    const kept = await recall(use());
    expect([exact.kv.lossy, computed.kv.lossy, kept.kv.lossy]).toEqual([false, false, false]);
    expect(kept.paths).toEqual(exact.paths);
    await restart({ blockCodec: 'int8' });
    const lossy = await recall(use({ prefetch: await broughtUp('ann') }));
    expect(lossy.kv).toMatchObject({ diskTokens: 80, lossy: true });
    const scores = new Map(exact.paths.map(({ sid, score }) => [sid.join(), score]));
    const moved = lossy.paths.map(({ sid, score }) =>
      Math.abs(score - (scores.get(sid.join()) ?? score)),
    );
    expect(Math.max(...moved)).toBeGreaterThan(0);
    expect(Math.max(...moved)).toBeLessThan(0.5);
    const { inexactTokens, storedBlockBytes, blockBytes, tiers } = engine.kvPool.metrics();
    expect(inexactTokens).toBe(80);
    expect(blockBytes / storedBlockBytes).toBeGreaterThan(3); // from F32, scales included
    const disk = tiers.find(({ tier }) => tier === 'disk');
    expect(disk?.capacityBlocks).toBeGreaterThanOrEqual(Math.floor(2 ** 24 / 4096 / 2));
    await restart();
    const again = await recall(use({ prefetch: await broughtUp('ann') }));
    expect(again.kv).toMatchObject({ diskTokens: 80, lossy: false });
    expect(again.paths).toEqual(exact.paths);
  });

  it('tells whether it holds a user', async () => {
    expect(engine.kvPool.holds('ann')).toBe(false);
    await recall(use());
    expect(engine.kvPool.holds('ann')).toBe(true);
    expect(engine.kvPool.holds('bob')).toBe(false);
    await engine.kvPool.dropUser('ann', 10_000);
    expect(engine.kvPool.holds('ann')).toBe(false);
  });

  it('gives a prefetch up whose request never comes', async () => {
    const prefetch = engine.prefetch(binding, 'ann');
    const other = engine.prefetch(binding, 'ann');
    expect(other.ticket).not.toBe(prefetch.ticket);
    prefetch.release();
    prefetch.release();
    other.release();
    await recall(use());
    expect(engine.kvPool.metrics().leases).toBe(0);
  });

  it('finds as much on disk behind 256 requests that were refused or cancelled', async () => {
    const users = ['ann', 'bob', 'cleo', 'dan', 'eve'];
    for (const userId of users) await recall(use({ userId }));
    await restart();
    const gone = AbortSignal.abort();
    const leaving = new AbortController();
    for (let i = 0; i < 64; i++) {
      const [ann, bob, cleo, dan] = users
        .slice(0, 4)
        .map((userId) => use({ userId, prefetch: engine.prefetch(binding, userId) }));
      const ended = [
        recall(ann, { budgetUs: 1 }),
        recall(bob, {}, gone),
        recall(cleo, { widths: [65] }),
        recall(dan, {}, leaving.signal),
      ];
      leaving.abort();
      const outcomes = await Promise.allSettled(ended);
      expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    }
    await checkNothingHeld(engine);
    const found = await recall(use({ userId: 'eve', prefetch: await broughtUp('eve') }));
    expect(found.kv.diskTokens).toBe(80);
  });

  it('takes a prefetch back from a request that cannot be written down', async () => {
    const prefetch = engine.prefetch(binding, 'ann');
    const wrong = { binding: { ...binding, slot: 99 } };
    await expect(recall(use({ prefetch }), wrong)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
  });

  it('keeps a prompt without a recall', async () => {
    const request = { binding, promptTokens: PROMPT.subarray(0, 81), budgetUs: 60e6 };
    const appended = await engine.append({ ...request, priority: 'low', kv: use() });
    expect(appended.kv.deviceTokens).toBe(0);
    expect((await recall(use())).kv.deviceTokens).toBe(80);
  });

  it('keeps the longer of two histories of a user whose requests ran at once', async () => {
    const shorter = Int32Array.of(...PROMPT.subarray(0, 60), 7, 8, 9, 10);
    const both = (userId: string) => [
      () => recall(use({ userId, keepTokens: 60 }), { promptTokens: shorter }),
      () => recall(use({ userId })),
    ];
    const plain = await recall();
    await Promise.all(both('ann').map((ask) => ask()));
    await Promise.all(
      both('bob')
        .reverse()
        .map((ask) => ask()),
    );
    for (const userId of ['ann', 'bob']) {
      expect(engine.kvPool.inspect(userId)).toMatchObject([{ tokens: 80 }]);
      const again = await recall(use({ userId }));
      expect(again.kv.deviceTokens).toBe(80);
      expect(again.paths).toEqual(plain.paths);
    }
  });

  it('forgets a dropped user for good, and a dropped version as long as it runs', async () => {
    await recall(use());
    await recall(use({ userId: 'bob' }));
    const [chain] = engine.kvPool.inspect('bob');
    await engine.kvPool.dropUser('ann', 10_000);
    expect(engine.kvPool.inspect('ann')).toEqual([]);
    expect((await recall(use({ keepTokens: 10 }))).kv.deviceTokens).toBe(0);
    await restart();
    expect(engine.kvPool.inspect('ann')[0]?.tokens).toBe(10);
    expect(engine.kvPool.inspect('bob')).toMatchObject([{ tokens: 80 }]);
    expect(engine.kvPool.dropVersion('no such version')).toBe(false);
    expect(engine.kvPool.dropVersion(chain?.version ?? '')).toBe(true);
    expect((await recall(use({ userId: 'bob' }))).kv.deviceTokens).toBe(0);
  });

  it('finds every block sound', async () => {
    await recall(use());
    await engine.drain(10_000);
    expect(await engine.kvPool.checkIntegrity()).toMatchObject({
      chains: 1,
      checkedDiskBlocks: 3,
      corruptDiskBlocks: 0,
      unreadableDiskBlocks: 0,
      faults: [],
    });
  });

  it('keeps nothing under other digests, and nothing of a catalogue alone', async () => {
    await recall(use());
    const levels = catalogue.summary.levelSizes.map((size, level) =>
      Int32Array.from({ length: size }, (_, code) => (levelTokenBase[level] ?? 0) + code),
    );
    const tokens = { levels, terminal: [] };
    const other = engine.bind(catalogue, tokens, { ...DIGESTS, template: 'other' });
    expect((await recall(use(), { binding: other })).kv.deviceTokens).toBe(0);
    const same = engine.bind(catalogue, tokens, DIGESTS);
    expect((await recall(use(), { binding: same })).kv.deviceTokens).toBe(80);
  });

  it.each([
    ['with the tiers below it', { hostBytes: 2 ** 24, diskBytes: 2 ** 24 }],
    ['without any', { hostBytes: 0, diskBytes: 0 }],
  ])('of no bytes is none, %s: every prompt is computed', async (_, tiers) => {
    const { config } = loadConfig({ environment: {} });
    const kv = { ...config.kv, deviceBytes: 0, ...tiers, path: join(folder, 'none') };
    await engine.close();
    await open({ versionsBackMax: 0, ...kvOptions({ ...config, kv }) });
    for (let time = 0; time < 2; time++) {
      expect((await recall(use())).kv).toMatchObject({
        deviceTokens: 0,
        hostTokens: 0,
        diskTokens: 0,
      });
    }
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('refuses a folder in use, one that cannot be, and capacities that do not fit', async () => {
    const refused = async (kv: Partial<KvPoolOptions>, code: string) =>
      await expect(NativeEngine.open(options(kv))).rejects.toMatchObject({ code });
    await refused({}, 'KV_STORE_INVALID');
    writeFileSync(join(folder, 'file'), '');
    await refused({ path: join(folder, 'file', 'kv') }, 'KV_STORE_INVALID');
    await refused({ path: join(folder, 'kv2'), deviceBytes: 100 }, 'KV_POOL_INVALID');
    await refused({ path: join(folder, 'kv2'), hostBytes: 2 ** 50 }, 'KV_POOL_INVALID');
    await refused({ path: join(folder, 'kv2'), readThreads: 0 }, 'REQUEST_INVALID');
  });
});
