import { TesseraError } from '@tessera/errors';
import { parseRedisNodes, type RedisAddress, redisFault, redisRefusal } from '@tessera/redis';
import type { Log } from '@tessera/telemetry';
import { withinMs } from '@tessera/turns';
import type { Redis } from 'ioredis';
import type { LogEntry } from '../domain/cluster-log.js';
import type { EtcdLog } from './etcd-log.js';

const FIELD = 'cluster.logRedis';
const ANSWER_MS = 5000;
const PAGE = 256;

/**
 * Continues the log of release 0.1, a stream of Redis, in etcd: same identity, same offsets. The
 * stream is renamed first, so that nodes of that release follow and append no more. Nothing where
 * etcd has a log already, or Redis has none. May be repeated. Rejects with STORE_UNAVAILABLE, and
 * CONFIG_INVALID for an address or user that is refused.
 */
export async function takeOverRedisLog(
  log: EtcdLog,
  { name, ...address }: RedisAddress & { readonly name: string },
  nodeLog: Pick<Log, 'warn'>,
): Promise<void> {
  if ((await log.bounds()).identity !== '') return;
  const [stream, moved] = [`{${name}}:log`, `{${name}}:log:moved`];
  const redis = await connected(address);
  try {
    const ask = <T>(asked: Promise<T>) => withinMs(ANSWER_MS, asked);
    const identity = await ask(redis.get(`${stream}:identity`));
    if (identity === null) return;
    // Of several that take it over one renames it.
    await ask(redis.rename(stream, moved)).catch((thrown: unknown) => {
      if (!/no such key/.test((thrown as Error).message)) throw thrown;
    });
    const from = async (offset: number) => {
      const found = await ask(redis.xrangeBuffer(moved, `${offset}-0`, '+', 'COUNT', PAGE));
      return found.map(([id, fields]) => entryOf(id, fields));
    };
    const end = await log.adopt(identity, from);
    nodeLog.warn({ end, moved }, 'the cluster log of Redis is continued in etcd');
  } catch (thrown) {
    throw fault(address.address, thrown);
  } finally {
    redis.disconnect();
  }
}

async function connected({ address, security }: RedisAddress): Promise<Redis> {
  const { Cluster, Redis } = await import('ioredis');
  const nodes = parseRedisNodes(FIELD, address);
  const options = { ...security, lazyConnect: true, maxRetriesPerRequest: 1 };
  const [first] = nodes;
  const client =
    nodes.length > 1 || first === undefined
      ? new Cluster([...nodes], { redisOptions: options, lazyConnect: true })
      : new Redis({ ...options, ...first });
  // Without a listener each failure would also be printed.
  client.on('error', () => undefined);
  try {
    await withinMs(ANSWER_MS, client.connect());
    return client as Redis;
  } catch (thrown) {
    client.disconnect();
    throw fault(address, thrown);
  }
}

function fault(address: string, thrown: unknown): TesseraError {
  if (thrown instanceof TesseraError) return thrown;
  return redisRefusal(FIELD, thrown) ?? redisFault(`Redis at ${address}`, thrown);
}

function entryOf(id: Buffer, fields: readonly Buffer[]): LogEntry {
  const [, atMs, , bytes = Buffer.of()] = fields;
  return { offset: Number.parseInt(id.toString(), 10), atMs: Number(atMs), bytes };
}
