/** The thread of a store of shared keys and values, as dist/ has it, over a real Redis. */

import { type StoreCall, type StoreMetrics, StoreThread } from '@tessera/shared-kv';
import { missingFor, type RedisServer, startRedisServer } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const OWNER = 'a'.repeat(32);
const VERSION = 'b'.repeat(32);
const BLOCK = 'c'.repeat(32);
const MEBIBYTE = 1024 * 1024;

interface Said {
  readonly id?: number;
  readonly status?: string;
  readonly bytes?: Uint8Array;
  readonly text?: string;
  readonly isAvailable?: boolean;
  readonly isClosed?: boolean;
}

function startThread(redis: RedisServer, name: string) {
  const said: Said[] = [];
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event) => said.push((event as { data: Said }).data);
  const reports: StoreMetrics[] = [];
  const limits = { prefix: 'thread', ttlMs: 600_000, timeoutMs: 500 };
  const s3 = { endpoint: '', region: '', isPathStyle: false };
  const thread = new StoreThread(
    {
      field: 'kv.shared',
      store: { address: `redis://${redis.address}`, s3, ...limits },
      guard: { readMs: 20_000, readMostMs: 60_000, writeMs: 20_000, writeBytesPerSecond: 1e9 },
      serve: { eraseMs: 600_000, pauseMs: [10, 100] },
      link: { module: new URL('./store-link.mjs', import.meta.url).href, data: name },
    },
    (metrics) => reports.push(metrics),
  );
  let next = 0;
  const begin = (asked: Partial<StoreCall> & Pick<StoreCall, 'kind'>, bytes?: Uint8Array) => {
    const rest = { owner: OWNER, version: VERSION, block: BLOCK, replaces: '', gone: [], at: 0 };
    const id = next;
    next += 1;
    channel.postMessage({ call: { ...rest, ...asked, id }, bytes });
    return id;
  };
  const endOf = async (id: number) => {
    await expect.poll(() => said.some((one) => one.id === id), { timeout: 60_000 }).toBe(true);
    return said.filter((one) => one.id === id);
  };
  const isThere = () => said.some((one) => one.isAvailable === true);
  const ready = () => expect.poll(isThere, { timeout: 60_000 }).toBe(true);
  return { thread, said, reports, begin, endOf, ready, closeChannel: () => channel.close() };
}

describe.skipIf(missingFor(['redis']).length > 0)('the thread of a store', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.stop());

  it('answers calls, reports what it has done, and ends when it is told to', async () => {
    const { thread, said, reports, begin, endOf, ready, closeChannel } = startThread(redis, 'one');
    await ready();
    const bytes = Uint8Array.from({ length: MEBIBYTE }, (_, index) => index & 255);
    expect(await endOf(begin({ kind: 'write' }, bytes))).toMatchObject([{ status: 'ok' }]);
    const [read] = await endOf(begin({ kind: 'read' }));
    expect(Buffer.from(read?.bytes ?? []).equals(bytes)).toBe(true);
    expect(await endOf(begin({ kind: 'erase', at: 5 }))).toMatchObject([{ status: 'ok' }]);
    expect(await endOf(begin({ kind: 'write' }, bytes))).toMatchObject([{ status: 'erased' }]);
    thread.setErasedUntil(5);
    expect(await endOf(begin({ kind: 'write' }, bytes))).toMatchObject([{ status: 'ok' }]);
    await thread.close();
    await expect.poll(() => said.at(-1)).toMatchObject({ isClosed: true });
    expect(thread.failure).toBeUndefined();
    expect(reports.at(-1)).toMatchObject({ writes: 2, reads: 1, erased: 1, isOpen: false });
    closeChannel();
  });

  it('says that a store is away, and makes up for erasures when it is back', async () => {
    const { thread, said, begin, endOf, ready, closeChannel } = startThread(redis, 'two');
    await ready();
    await endOf(begin({ kind: 'find' }));
    await redis.kill();
    const erasure = begin({ kind: 'erase', at: 6 });
    for (let call = 0; call < 3; call += 1) {
      expect(await endOf(begin({ kind: 'find' }))).toMatchObject([{ status: 'failed' }]);
    }
    const isAway = () => said.some((one) => one.isAvailable === false);
    await expect.poll(isAway, { timeout: 60_000 }).toBe(true);
    expect(said.some((one) => one.id === erasure)).toBe(false);
    await redis.start();
    expect(await endOf(erasure)).toMatchObject([{ status: 'ok' }]);
    const isBack = () => said.findLast((one) => one.isAvailable !== undefined)?.isAvailable;
    await expect.poll(isBack, { timeout: 60_000 }).toBe(true);
    await thread.close();
    closeChannel();
  });
});
