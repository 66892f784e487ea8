/** A user who comes back: what is found, where it lay, and that it outlives the process. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

/** To compute a history takes far longer than to load it: else the pool may rather compute it. */
const WORTH_LOADING = { ...SMALL, layers: 6, hidden: 256 };

const folder = temporaryFolder({});
const variables = {
  TESSERA_MODEL_PATH: join(folder.path, 'model'),
  TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
  TESSERA_KV_DISK_BYTES: String(2 ** 28),
  TESSERA_KV_PATH: join(folder.path, 'kv'),
};

interface Provenance {
  readonly tokensByTier: { readonly device: number; readonly disk: number };
  readonly computedTokens: number;
  readonly savedTokens: number;
}
interface Chain {
  readonly tokens: number;
  readonly durableTokens: number;
}

let service: Service;

/** Thirty behaviours each: some blocks of history. */
function users(): object {
  const behaviours = (user: number) =>
    Array.from({ length: 30 }, (_, time) => ({
      item_id: String((user * 31 + time * 7) % 200),
      time,
    }));
  const named = [1, 2, 3, 4, 5].map((user) => [user, { behaviours: behaviours(user) }] as const);
  return Object.fromEntries(named);
}

beforeAll(() => {
  const model = writeRandomModel(join(folder.path, 'model'), WORTH_LOADING);
  writeFileSync(join(model, 'users.json'), JSON.stringify(users()));
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

async function recalled(userId: string) {
  const { status, json } = await service.post({ userId, resultCount: 10 });
  expect(status).toBe(200);
  const { promptTokens, items } = json as { promptTokens: number; items: unknown };
  return { items, promptTokens, kv: json.kv as Provenance };
}

async function chainsOf(userId: string): Promise<readonly Chain[]> {
  const { json } = await service.post({ userId }, undefined, '/v1/kv/inspect');
  return json.chains as readonly Chain[];
}

/** Asks until what is kept of the user is on disk; the test's own time limit ends a vain wait. */
async function becomesDurable(userId: string): Promise<void> {
  for (;;) {
    const [chain] = await chainsOf(userId);
    if (chain !== undefined && chain.durableTokens === chain.tokens) return;
  }
}

it('is found on the device, and on disk after kill -9, with the same answer', async () => {
  service = await Service.start(variables);
  const users = ['2', '3', '4'];
  const first = new Map<string, unknown>();
  for (const userId of users) {
    const { items, kv } = await recalled(userId);
    expect(kv.tokensByTier.disk).toBe(0);
    first.set(userId, items);
    const again = await recalled(userId);
    expect(again.items).toEqual(items);
    expect(again.kv.tokensByTier.device).toBeGreaterThan(0);
    expect(again.kv.savedTokens + again.kv.computedTokens).toBe(again.promptTokens);
    await becomesDurable(userId);
  }
  service.child.kill('SIGKILL');
  await once(service.child, 'close');

  service = await Service.start(variables);
  let fromDisk = 0;
  for (const userId of users) {
    const [chain] = await chainsOf(userId);
    expect(chain?.durableTokens).toBeGreaterThan(0);
    const { items, kv } = await recalled(userId);
    expect(items).toEqual(first.get(userId));
    fromDisk += kv.tokensByTier.disk;
  }
  expect(fromDisk).toBeGreaterThan(0);
  const hits = await service.metric('tessera_kv_hit_tokens_total{tier="disk"}');
  expect(hits).toBeGreaterThanOrEqual(fromDisk);
});

it('is forgotten on demand, and nothing else is', async () => {
  const dropped = await service.post({ userId: '2' }, undefined, '/v1/kv/drop-user');
  expect(dropped).toEqual({ status: 200, json: {} });
  expect(await chainsOf('2')).toEqual([]);
  expect(await chainsOf('3')).toHaveLength(1);
  const checked = await service.post({}, undefined, '/v1/kv/check-integrity');
  expect(checked.json).toMatchObject({ corruptDiskBlocks: 0, unreadableDiskBlocks: 0, faults: [] });
});

it('is kept by an append, so that the next recall computes the scene alone', async () => {
  const appended = await service.post({ userId: '5' }, undefined, '/v1/kv/append');
  const { keptTokens } = appended.json as { keptTokens: number };
  const { kv } = await recalled('5');
  expect(kv.tokensByTier.device).toBe(keptTokens);
});

it('locks its folder against a second process, which says so', async () => {
  const second = await Service.launch(variables).ended;
  expect(second.status).toBe(1);
  expect(second.stderr).toMatch(/KV_STORE_INVALID/);
});
