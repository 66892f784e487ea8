/** A Redis that is away, silent, full, replicating, evicting, loading or none at all. */

import { createServer, type Server, type Socket } from 'node:net';
import {
  missingFor,
  type RedisServer,
  seededRandom,
  startRedisSentinel,
  startRedisServer,
  until,
} from '@tessera/testing';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { ChainName, SharedKvStore } from './domain/kv-store.js';
import { guarded } from './guarded-store.js';
import { openStore } from './open-store.js';

const FIELD = 'kv.shared';
const S3 = { endpoint: '', region: '', isPathStyle: false };
const MEBIBYTE = 1024 * 1024;
const random = seededRandom(46);
const hex = () => Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
const chain = (): ChainName => ({ owner: hex(), version: hex() });
const BYTES = Buffer.from('bytes');
const AWAY = { code: 'STORE_UNAVAILABLE', retryable: true };

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function storeAt(address: string, options: { timeoutMs?: number; ttlMs?: number } = {}) {
  const limits = { timeoutMs: 10_000, ttlMs: 600_000, ...options };
  const store = openStore(FIELD, { address, prefix: 'f', s3: S3, ...limits });
  open.push(() => store.close());
  return store;
}

async function serverWith(...options: string[]): Promise<RedisServer> {
  const server = await startRedisServer(options);
  open.push(() => server.stop());
  return server;
}

function adminOf(server: RedisServer): Redis {
  const admin = new Redis(`redis://${server.address}`);
  open.push(() => admin.disconnect());
  return admin;
}

const urlOf = (server: RedisServer) => `redis://${server.address}`;
const kept = (store: SharedKvStore, name = chain(), bytes: Uint8Array = BYTES) =>
  store.write(name, hex(), bytes, 0);
const works = (store: SharedKvStore) =>
  kept(store).then(
    () => true,
    () => false,
  );

const missing = missingFor(['redis']);
if (missing.length > 0) console.warn(`left out, not installed: ${missing.join(', ')}`);

describe.skipIf(missing.length > 0)('a Redis', () => {
  it('that ends fails its calls, and they go on when it is back', async () => {
    const server = await serverWith();
    const store = storeAt(urlOf(server));
    const name = chain();
    await store.publish(name, BYTES, '', [], 0);
    await server.kill();
    await expect(store.find(name)).rejects.toMatchObject(AWAY);
    await expect(kept(store)).rejects.toMatchObject(AWAY);
    await expect(store.erase(name.owner, 1)).rejects.toMatchObject(AWAY);
    await server.start();
    expect((await store.find(name))?.head).toEqual(BYTES);
    expect(await kept(store)).toBe('kept');
  });

  it('whose primary ends is the one that its sentinel names next', async () => {
    const watched = await startRedisSentinel();
    open.push(() => watched.stop());
    const store = storeAt(`redis+sentinel://${watched.address}/${watched.name}`);
    const name = chain();
    await store.publish(name, BYTES, '', [], 0);
    const replica = new Redis(urlOf(watched.replica));
    open.push(() => replica.disconnect());
    await until('the replica has it', async () => (await replica.keys('f:*')).length > 0);
    await watched.primary.kill();
    await expect(kept(store)).rejects.toMatchObject(AWAY);
    await until('it is written to again', () => works(store), 30_000);
    expect(await watched.named()).toBe(watched.replica.address);
    const found = await store.find(name);
    expect(found?.head).toEqual(BYTES);
    // The head of the old primary is replaced as if nothing had happened.
    const next = Buffer.from('next');
    const outcome = await store.publish(name, next, found?.revision ?? '', [], 0);
    expect(outcome).toMatchObject({ kept: expect.any(String) });
    expect((await store.find(name))?.head).toEqual(next);
  });

  it('that stops in the middle fails its calls in their time', async () => {
    const server = await serverWith();
    const store = storeAt(urlOf(server), { timeoutMs: 300 });
    const guard = guarded(store, {
      readMs: 100,
      readMostMs: 10_000,
      writeMs: 300,
      writeBytesPerSecond: 1e9,
    });
    open.push(() => guard.close());
    await store.find(chain());
    server.signal('SIGSTOP');
    const finds = Array.from({ length: 4 }, () => guard.find(chain()));
    for (const find of finds) await expect(find).rejects.toMatchObject(AWAY);
    expect(guard.isOpen()).toBe(true);
    await expect(kept(store, chain(), Buffer.alloc(4 * MEBIBYTE))).rejects.toMatchObject(AWAY);
    server.signal('SIGCONT');
    await expect.poll(() => guard.isOpen(), { timeout: 60_000 }).toBe(false);
    await expect.poll(() => works(store), { timeout: 60_000 }).toBe(true);
  });

  it('that is a replica now is read, and takes no writes', async () => {
    const [old, next] = [await serverWith(), await serverWith()];
    const store = storeAt(urlOf(old));
    const [host = '', port = ''] = next.address.split(':');
    await store.find(chain());
    await adminOf(old).replicaof(host, Number(port));
    const refusal = { ...AWAY, message: expect.stringContaining('READONLY') };
    await expect(kept(store)).rejects.toMatchObject(refusal);
    await expect(store.erase(hex(), 1)).rejects.toMatchObject(refusal);
    expect(await store.find(chain())).toBeUndefined();
  });

  it('that is full and evicts nothing says so, halves nothing and erases', async () => {
    const server = await serverWith('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction');
    const store = storeAt(urlOf(server));
    const name = chain();
    await store.publish(name, BYTES, '', [], 0);
    const bytes = Buffer.alloc(MEBIBYTE);
    const fill = async () => {
      for (let block = 0; block < 40; block += 1) await kept(store, name, bytes);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL' });
    // Of the freed buffers of a large write a small one may have been kept.
    await adminOf(server).config('SET', 'maxmemory', '1mb');
    const found = await store.find(name);
    const replace = store.publish(name, Buffer.from('new'), found?.revision ?? '', [], 0);
    await expect(replace).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(await store.find(name)).toEqual(found);
    await store.erase(hex(), 3);
    await store.erase(name.owner, 3);
    expect(await store.find(name)).toBeUndefined();
    expect(await store.publish(name, BYTES, '', [], 2)).toBe('erased');
  });

  it.each(['allkeys-lru', 'volatile-ttl'])(
    'that evicts by %s drops owners whole',
    async (policy) => {
      const server = await serverWith('--maxmemory', '24mb', '--maxmemory-policy', policy);
      const store = storeAt(urlOf(server));
      const erased = chain();
      await store.erase(erased.owner, 9);
      const bytes = Buffer.alloc(MEBIBYTE);
      const names = Array.from({ length: 20 }, chain);
      for (const name of names) {
        for (const block of [name.owner, name.version]) await store.write(name, block, bytes, 0);
        await store.publish(name, BYTES, '', [], 0);
      }
      let whole = 0;
      for (const name of names) {
        const parts = [
          await store.find(name),
          await store.read(name, name.owner),
          await store.read(name, name.version),
        ];
        const there = parts.filter((part) => part !== undefined).length;
        expect([0, 3], `seed 46, ${name.owner}`).toContain(there);
        if (there === 3) whole += 1;
      }
      expect(whole).toBeGreaterThan(3);
      expect(whole).toBeLessThan(12);
      if (policy === 'volatile-ttl') expect(await kept(store, erased)).toBe('erased');
    },
  );

  it('forgets an owner in its time, and versions out of use of one that lives on', async () => {
    const server = await serverWith();
    const admin = adminOf(server);
    const ttlMs = 60_000;
    const store = storeAt(urlOf(server), { ttlMs });
    const [old, live] = [chain(), chain()];
    const next = { owner: old.owner, version: live.version };
    await kept(store, old);
    await store.publish(old, BYTES, '', [], 0);
    const key = `f:{${old.owner}}`;
    expect(await admin.pttl(key)).toBeGreaterThan(ttlMs / 2);
    // As if both had happened longer ago than the time to live.
    await admin.hset(key, 's', '1', `${old.version}t`, '1');
    await kept(store, next);
    expect(await store.find(old)).toBeUndefined();
    const fields = await admin.hkeys(key);
    expect(fields.filter((field) => field.startsWith(old.version))).toEqual([]);
    expect(fields).toHaveLength(3);
    await admin.pexpire(key, 1);
    await expect.poll(() => admin.exists(key)).toBe(0);
    expect(await store.publish(old, BYTES, '', [], 0)).toMatchObject({ kept: expect.anything() });
  });

  it('keeps an owner on that is read', async () => {
    const server = await serverWith();
    const admin = adminOf(server);
    const name = chain();
    await storeAt(urlOf(server)).publish(name, BYTES, '', [], 0);
    const key = `f:{${name.owner}}`;
    await admin.pexpire(key, 50_000);
    await storeAt(urlOf(server)).find(name);
    await expect.poll(() => admin.pttl(key)).toBeGreaterThan(500_000);
  });

  it('never gives a chain that came again the revision of the one before', async () => {
    const server = await serverWith();
    const store = storeAt(urlOf(server));
    const name = chain();
    const first = await store.publish(name, BYTES, '', [], 0);
    await adminOf(server).flushall();
    const second = await store.publish(name, Buffer.from('other'), '', [], 0);
    expect(second).not.toEqual(first);
    const { kept: stale } = first as { kept: string };
    expect(await store.publish(name, Buffer.from('x'), stale, [], 0)).toBe('changed');
  });

  it('with another kind of value under a key is damaged, and an erasure mends it', async () => {
    const server = await serverWith();
    const store = storeAt(urlOf(server));
    const name = chain();
    await adminOf(server).set(`f:{${name.owner}}`, 'text');
    await expect(store.find(name)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await expect(kept(store, name)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await store.erase(name.owner, 1);
    expect(await store.write(name, hex(), BYTES, 1)).toBe('kept');
  });

  it('with a password refuses whoever has none, by the field', async () => {
    const server = await serverWith('--requirepass', 'secret');
    const refusal = { code: 'CONFIG_INVALID', field: FIELD };
    await expect(storeAt(urlOf(server)).find(chain())).rejects.toMatchObject(refusal);
  });
});

/** Says the same to everything. */
async function fakeServer(say: (socket: Socket, command: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => say(socket, String(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return `redis://127.0.0.1:${port}`;
}

describe('a server that', () => {
  const answers: [string, string][] = [
    ['loads its data', '-LOADING Redis is loading the dataset in memory\r\n'],
    ['sends elsewhere', '-MOVED 3999 127.0.0.1:1\r\n'],
    ['is of a cluster that is down', '-CLUSTERDOWN The cluster is down\r\n'],
    ['speaks something else', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['answers with a number', ':7\r\n'],
  ];
  it.each(answers)('%s is unavailable', async (_, answer) => {
    const address = await fakeServer((socket, command) => {
      const isPing = /ping/i.test(command) && answer.startsWith(':');
      socket.write(isPing ? '+PONG\r\n' : answer);
    });
    const store = storeAt(address, { timeoutMs: 500 });
    await expect(store.find(chain())).rejects.toMatchObject(AWAY);
    await expect(store.read(chain(), hex())).rejects.toMatchObject(AWAY);
    await expect(kept(store)).rejects.toMatchObject(AWAY);
    await expect(store.publish(chain(), BYTES, '', [], 0)).rejects.toMatchObject(AWAY);
    await expect(store.erase(hex(), 1)).rejects.toMatchObject(AWAY);
  });

  it('answers nothing is unavailable in the time of a call', async () => {
    const store = storeAt(await fakeServer(() => undefined), { timeoutMs: 100 });
    await expect(store.find(chain())).rejects.toMatchObject(AWAY);
    await expect(kept(store)).rejects.toMatchObject(AWAY);
  });
});

describe('an address', () => {
  it.each([
    'redis://user:secret@h:1',
    'redis://h',
    'redis://h:1/0',
    'redis://h:1?sentinel=',
    'redis://h:1?other=1',
    'redis+sentinel://h:1',
    'http://h:1',
    's3://B/x',
  ])('%s is refused, by the field', (address) => {
    const expected = { code: 'CONFIG_INVALID', field: FIELD };
    expect(() => storeAt(address)).toThrow(expect.objectContaining(expected));
  });

  it.each([
    'redis://h:1',
    'rediss://h:1,i:2/?cluster',
    'redis+sentinel://h:1,i:2/main',
    'redis://h:1?sentinel=main',
    's3://bucket/some/where',
  ])('%s is taken', (address) => {
    expect(storeAt(address).place).toMatch(/h:1|bucket/);
  });
});
