/** Blocks as real models have them, over a link that is slow for them; a cluster that lost one. */

import {
  missingFor,
  seededRandom,
  startRedisCluster,
  startRedisServer,
  throttledProxy,
  until,
} from '@tessera/testing';
import { Cluster } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChainName } from './domain/kv-store.js';
import { type GuardedStore, guarded } from './guarded-store.js';
import { openStore } from './open-store.js';

/** Keys and values of 32 positions of a model of 0.6B in bf16, and their checksum. */
const BLOCK_BYTES = 3_670_024;
/** Blocks that one thread of the pool has under way. */
const BLOCKS = 16;
const GIGABIT = 125_000_000;
/** Of the service (apps/standalone/src/shared-stores.ts). */
const LIMITS = { readMs: 200, readMostMs: 10_000, writeMs: 5000 };
const random = seededRandom(53);
const hex = () => Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
const chain = (): ChainName => ({ owner: hex(), version: hex() });

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function guardedAt(nodes: string): GuardedStore {
  const s3 = { endpoint: '', region: '', isPathStyle: false };
  const store = openStore('kv.shared', {
    address: `redis://${nodes}`,
    prefix: 'r',
    ttlMs: 600_000,
    timeoutMs: 5000,
    s3,
  });
  const guard = guarded(store, { ...LIMITS, writeBytesPerSecond: 1e9 });
  open.push(() => guard.close());
  return guard;
}

const missing = missingFor(['redis']);
if (missing.length > 0) console.warn(`left out, not installed: ${missing.join(', ')}`);

describe.skipIf(missing.length > 0)('a shared Redis', () => {
  it('over a gigabit gives all blocks of a long prompt, and a head meanwhile', async () => {
    const server = await startRedisServer();
    open.push(() => server.stop());
    const writer = guardedAt(server.address);
    const [rushed, other] = [chain(), chain()];
    const blocks = Array.from({ length: BLOCKS }, hex);
    const bytes = Buffer.alloc(BLOCK_BYTES, 7);
    for (const [place, block] of blocks.entries()) {
      bytes.writeUInt32LE(place, BLOCK_BYTES - 4);
      expect(await writer.write(rushed, block, bytes, 0)).toBe('kept');
    }
    await writer.publish(other, Buffer.from('head'), '', [], 0);

    const proxy = await throttledProxy(server.address, GIGABIT);
    open.push(() => proxy.close());
    const reader = guardedAt(proxy.address);
    await reader.find(rushed);
    const changes: boolean[] = [];
    reader.onChange((isOpen) => changes.push(isOpen));
    const reads = Promise.all(blocks.map((block) => reader.read(rushed, block)));
    expect((await reader.find(other))?.head).toEqual(Buffer.from('head'));
    const found = await reads;
    expect(found.map((read) => read?.length)).toEqual(blocks.map(() => BLOCK_BYTES));
    const places = found.map((read) => Buffer.from(read ?? []).readUInt32LE(BLOCK_BYTES - 4));
    expect(places).toEqual(blocks.map((_, place) => place));
    expect(changes).toEqual([]);
    expect(reader.readCounts()).toMatchObject({ reads: BLOCKS, refused: 0, faults: {} });
  }, 60_000);

  it('of several nodes serves the users of others where one is silent', async () => {
    const cluster = await startRedisCluster();
    open.push(() => cluster.stop());
    const nodes = cluster.address.split(',').map((text) => {
      const [host = '', port = ''] = text.split(':');
      return { host, port: Number(port) };
    });
    const admin = new Cluster(nodes);
    open.push(() => admin.disconnect());
    await new Promise((resolve) => admin.once('ready', resolve));
    for (const node of admin.nodes('master')) {
      await node.config('SET', 'cluster-require-full-coverage', 'no');
    }
    const guard = guardedAt(cluster.nodes[0]?.address ?? '');
    const names = Array.from({ length: 60 }, chain);
    for (const name of names) await guard.publish(name, Buffer.from('head'), '', [], 0);
    await until('heads are found', () =>
      guard.find(chain()).then(
        () => true,
        () => false,
      ),
    );
    expect(guard.isCluster).toBe(true);
    cluster.nodes[1]?.signal('SIGSTOP');
    const answers: boolean[] = [];
    for (const name of names) {
      answers.push(
        await guard.find(name).then(
          (found) => found !== undefined,
          () => false,
        ),
      );
    }
    cluster.nodes[1]?.signal('SIGCONT');
    expect(guard.isOpen()).toBe(false);
    const found = answers.filter((isFound) => isFound).length;
    expect(found, 'seed 53').toBeGreaterThan(20);
    expect(found, 'seed 53').toBeLessThan(60);
  }, 120_000);
});
