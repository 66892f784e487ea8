import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';
import { type RedisServer, startedRedis, startRedisServer } from './redis-server.js';
import { ended } from './server-process.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

const HOST = '127.0.0.1';
const NAME = 'main';
/** A primary silent for so long is down. */
const DOWN_MS = 500;
const FAILOVER_MS = 5000;

export interface RedisSentinel {
  /** Address of the sentinel. */
  readonly address: string;
  /** Name that it has for the primary. */
  readonly name: string;
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** Address of the primary that the sentinel names now. */
  named(): Promise<string>;
  stop(): Promise<void>;
}

/** A real Redis with a replica that holds what it does, and the sentinel that watches both. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const primary = await startRedisServer();
  const [, port = ''] = primary.address.split(':');
  const replica = await startRedisServer(['--replicaof', HOST, port]);
  const folder = temporaryFolder({});
  const path = join(folder.path, 'sentinel.conf');
  const ownPort = await freePort();
  const lines = [
    ...[`port ${ownPort}`, `bind ${HOST}`, `dir ${folder.path}`],
    `sentinel monitor ${NAME} ${HOST} ${port} 1`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_MS}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_MS}`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  const child = await startedRedis([path, '--sentinel'], '+monitor master');
  const [admin, source] = [new Redis(ownPort, HOST), new Redis(Number(port), HOST)];
  const asked = (...words: string[]) => admin.call('SENTINEL', ...words) as Promise<string[]>;
  await until('the sentinel knows the replica', async () => {
    const { length } = await asked('replicas', NAME);
    return length === 1;
  });
  await until('the replica follows', async () =>
    (await source.info('replication')).includes('state=online'),
  );
  source.disconnect();
  return {
    address: `${HOST}:${ownPort}`,
    name: NAME,
    primary,
    replica,
    named: async () => (await asked('get-master-addr-by-name', NAME)).join(':'),
    stop: async () => {
      admin.disconnect();
      await ended(child, 'SIGKILL');
      await replica.stop();
      await primary.stop();
      folder.remove();
    },
  };
}
