/** Cases of a log in Redis alone: servers that hang, clusters, passwords, forgetful servers. */

import { Writable } from 'node:stream';
import { createLog } from '@tessera/telemetry';
import {
  documentedRights,
  missingFor,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  until,
} from '@tessera/testing';
import { withinMs } from '@tessera/turns';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RedisLog } from './index.js';

const missing = missingFor(['redis']);
if (missing.length > 0) console.log(`Redis is not tested here: ${missing.join()} is missing`);

const bytes = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (thrown) => thrown.code as string,
  );

describe.skipIf(missing.length > 0)('a log in Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server?.stop());

  it('notices a server that hangs, in calls and in readers', async () => {
    const log = await RedisLog.open({ address: server.address, name: 'hangs' });
    await log.append(bytes('a'));
    const reading = log.read(1, never);
    await reading.next();
    const [, port] = server.address.split(':');
    const admin = new Redis(Number(port));
    const [, , pid] = (await admin.info('server')).match(/(process_id):(\d+)/) ?? [];
    process.kill(Number(pid), 'SIGSTOP');
    const toFailure = async () => {
      while (!(await reading.next()).done);
    };
    try {
      const calls = [toFailure(), log.append(bytes('b')), log.bounds()];
      const codes = await withinMs(6000, Promise.all(calls.map(codeOf)));
      expect(codes).toEqual(calls.map(() => 'STORE_UNAVAILABLE'));
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
    await until('a server that answers', async () => (await codeOf(log.bounds())) === 'done');
    admin.disconnect();
    await log.close();
  });

  it('notices what was trimmed behind what it gave', async () => {
    const log = await RedisLog.open({ address: server.address, name: 'overtaken' });
    for (const text of ['a', 'b']) await log.append(bytes(text));
    const reading = log.read(1, never);
    const { value } = await reading.next();
    expect(value).toHaveLength(2);
    await log.append(bytes('c'));
    await log.trim(4);
    const next = async () => {
      for (;;) await reading.next();
    };
    await log.append(bytes('d'));
    await expect(next()).rejects.toMatchObject({ code: 'LOG_TRIMMED' });
    await log.close();
  });

  it('says that a log which has become shorter is another one', async () => {
    const log = await RedisLog.open({ address: server.address, name: 'lost' });
    for (const text of ['a', 'b']) await log.append(bytes(text));
    const [, port] = server.address.split(':');
    const admin = new Redis(Number(port));
    await admin.del('{lost}:log');
    const reading = log.read(3, never);
    await expect(reading.next()).rejects.toMatchObject({ code: 'LOG_DIFFERENT' });
    admin.disconnect();
    await log.close();
  });

  it('forgets the digests of old offsets, and no others', async () => {
    const log = await RedisLog.open({ address: server.address, name: 'digests' });
    const offsets = Array.from({ length: 4500 }, (_, i) => i + 1);
    await Promise.all(offsets.map((offset) => log.digestAt(offset, `of ${offset}`)));
    expect(await log.digestAt(1, 'again')).toBe('again');
    expect(await log.digestAt(500, 'again')).toBe('of 500');
    expect(await log.digestAt(4500, 'again')).toBe('of 4500');
    await log.close();
  });

  it.each(['nowhere', '127.0.0.1:port', ''])('refuses the address %j', async (address) => {
    await expect(RedisLog.open({ address, name: 'x' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'cluster.logRedis',
    });
  });
});

describe.skipIf(missing.length > 0)('another server', () => {
  it('refuses a wrong password, and takes the right one', async () => {
    const server = await startRedisServer(['--requirepass', 'secret']);
    const { address } = server;
    for (const security of [undefined, { password: 'guessed' }]) {
      const opened = RedisLog.open({ address, name: 'x', security });
      await expect(opened).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        field: 'cluster.logRedis',
      });
    }
    const log = await RedisLog.open({ address, name: 'x', security: { password: 'secret' } });
    expect(await log.append(bytes('a'))).toBe(1);
    await log.close();
    await server.stop();
  });

  it('serves a user with the documented rights, and says what another lacks', async () => {
    const server = await startRedisServer();
    onTestFinished(() => server.stop());
    const admin = new Redis(`redis://${server.address}`);
    const rights = documentedRights('docs/operate/security.md').replaceAll('NAME', 'x');
    const give = (of: string) => admin.call('ACL', 'SETUSER', 'tessera', 'reset', ...of.split(' '));
    const open = () => {
      const security = { username: 'tessera', password: 'secret' };
      return RedisLog.open({ address: server.address, name: 'x', security });
    };
    await give(`on >secret ${rights}`);
    const log = await open();
    for (const text of ['a', 'b', 'c']) await log.append(bytes(text));
    const reading = log.read(1, never);
    expect((await reading.next()).value).toHaveLength(3);
    expect(await log.digestAt(3, 'digest')).toBe('digest');
    await log.trim(2);
    expect(await log.bounds()).toMatchObject({ first: 2 });
    for (const lacking of ['+time', '~{x}:*']) {
      await give(`on >secret ${rights.replace(lacking, '')}`);
      const refused = open().then((other) => other.append(bytes('d')));
      await expect(refused).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('docs/operate/security.md'),
      });
    }
    admin.disconnect();
    await log.close();
  });

  it('is full where its memory is', async () => {
    const server = await startRedisServer(['--maxmemory', '1mb']);
    const log = await RedisLog.open({ address: server.address, name: 'x' });
    const full = log.append(new Uint8Array(512 << 10)).then(() => log.append(bytes('b')));
    await expect(full).rejects.toMatchObject({ code: 'STORE_FULL' });
    await log.close();
    await server.stop();
  });

  it('is warned of where it keeps nothing on its disk', async () => {
    const server = await startRedisServer(['--appendonly', 'no']);
    const lines: string[] = [];
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    });
    const nodeLog = createLog('warn', sink);
    const log = await RedisLog.open({ address: server.address, name: 'x' }, nodeLog);
    await log.append(bytes('a'));
    expect(lines.filter((line) => line.includes('appendonly'))).toHaveLength(1);
    await log.close();
    await server.stop();
  });

  it('is a cluster, named by one node or by all of them', async () => {
    const cluster = await startRedisCluster();
    const opened = [cluster.nodes[0]?.address ?? '', cluster.address].map((address) =>
      RedisLog.open({ address, name: 'in-a-cluster' }),
    );
    const [one, all] = (await Promise.all(opened)) as [RedisLog, RedisLog];
    const identity = await one.begin('ours');
    expect([await one.append(bytes('a')), await all.append(bytes('b'))]).toEqual([1, 2]);
    for await (const entries of all.read(1, never)) {
      expect(entries).toHaveLength(2);
      break;
    }
    expect(await all.bounds()).toEqual({ identity, first: 1, end: 2 });
    await Promise.all([one.close(), all.close()]);
    await cluster.stop();
  });
});
