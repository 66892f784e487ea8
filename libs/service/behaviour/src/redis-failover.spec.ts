/** An address that leads to another Redis than before. */

import { connect, createServer, type Socket } from 'node:net';
import {
  type RedisCluster,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
} from '@tessera/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRetention } from './domain/retention.js';
import { RedisBehaviourLog } from './outside/redis-behaviour-log.js';

const RETENTION = parseRetention('*=100');

/** A name or a balancer: new connections go where it points, old ones stay. */
async function startProxy(first: string) {
  let target = first;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const [host = '', port = ''] = target.split(':');
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${port}`,
    pointTo: (address: string) => {
      target = address;
    },
    stop: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

const openAt = (address: string) =>
  RedisBehaviourLog.open({ address, keyPrefix: 'f:', retention: RETENTION, nowMs: Date.now });

const event = (userId: string, eventId: string) => ({
  userId,
  eventId,
  itemId: 'i',
  action: 'click',
  scene: {},
  timeMs: Date.now(),
});

describe('a failover', () => {
  let old: RedisServer;
  let next: RedisServer;
  beforeAll(async () => {
    [old, next] = await Promise.all([startRedisServer(), startRedisServer()]);
  });
  afterAll(() => Promise.all([old.stop(), next.stop()]));

  it('shows as writes that fail, and they go on at the new primary', async () => {
    const proxy = await startProxy(old.address);
    const log = await openAt(proxy.address);
    expect(await log.append([event('u', 'e1')])).toEqual(['added']);
    const admin = new Redis(`redis://${old.address}`);
    const [host = '', port = ''] = next.address.split(':');
    await admin.replicaof(host, Number(port));
    const write = () => log.append([event('u', 'e2')]);
    for (let call = 0; call < 3; call += 1) {
      await expect(write()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      // Reads go on meanwhile, and hide nothing.
      await log.history('u', 9);
    }
    expect(log.reach()).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('READONLY'),
    });
    proxy.pointTo(next.address);
    const added = () =>
      write().then(
        ([outcome]) => outcome,
        () => 'refused',
      );
    await expect.poll(added, { timeout: 60_000 }).not.toBe('refused');
    expect(log.reach().state).toBe('ok');
    const primary = new Redis(`redis://${next.address}`);
    expect(await primary.hexists('f:{u}:e', 'e2')).toBe(1);
    await Promise.all([primary.quit(), admin.quit(), log.close()]);
    proxy.stop();
  });
});

describe('one address of a cluster', () => {
  const users = Array.from({ length: 40 }, (_, i) => `user ${i}`);
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  it('is enough to keep users on all its nodes and to list them', async () => {
    const [node] = cluster.nodes;
    const log = await openAt(node?.address ?? '');
    await log.append(users.map((userId) => event(userId, 'e')));
    expect(await log.userIds(99)).toEqual([...users].sort());
    expect(await log.history('user 7', 9)).toHaveLength(1);
    await log.close();
  });

  it('is told from a lone server also where it was away at the start', async () => {
    const nowhere = await startRedisServer();
    await nowhere.kill();
    const proxy = await startProxy(nowhere.address);
    const log = await openAt(proxy.address);
    await expect(log.history('user 7', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.pointTo(cluster.nodes[0]?.address ?? '');
    const all = () => log.append(users.map((userId) => event(userId, 'late'))).then(() => true);
    await expect.poll(() => all().catch(() => false), { timeout: 60_000 }).toBe(true);
    expect(await log.userIds(99)).toEqual([...users].sort());
    await log.close();
    await nowhere.stop();
    proxy.stop();
  });
});
