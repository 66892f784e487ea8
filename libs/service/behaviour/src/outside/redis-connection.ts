import { StoreBreaker, type StoreReach } from '@tessera/breaker';
import { TesseraError } from '@tessera/errors';
import {
  keyKeeping,
  mastersOf,
  parseRedisNodes,
  type RedisAddress,
  type RedisClient,
  RedisLink,
} from '@tessera/redis';
import type { Result } from 'ioredis';
import { APPEND_SCRIPT, ERASE_SCRIPT, HISTORY_SCRIPT } from './redis-scripts.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tesseraAppend(keyCount: number, ...rest: string[]): Result<number[], Context>;
    tesseraHistory(keyCount: number, ...rest: string[]): Result<string[] | null, Context>;
    tesseraErase(keyCount: number, ...rest: string[]): Result<number, Context>;
  }
}

const SCRIPTS = {
  tesseraAppend: { lua: APPEND_SCRIPT },
  tesseraHistory: { lua: HISTORY_SCRIPT, readOnly: true },
  tesseraErase: { lua: ERASE_SCRIPT },
};

const CONNECT_TIMEOUT_MS = 2000;
/** A cluster that looks for its nodes keeps commands without any bound of its own. */
const WRITE_TIMEOUT_MS = 6000;
/** Time limit of a read that a recall waits for. */
const READ_TIMEOUT_MS = 500;
const LOOK_EVERY_MS = 60_000;

const FIELD = 'behaviours.redis';
const PASSWORD_FIELD = 'behaviours.redisPasswordPath';

type Command<T> = (redis: RedisClient) => Promise<T>;

/**
 * The clients of Redis and what is known of its reach. Reads and writes have a connection each and
 * fail apart: a primary that has become a replica answers the first and refuses the second. It is
 * looked at with each connection and each minute, since its settings may let it forget.
 */
export class RedisConnection {
  private readonly reads: RedisLink;
  private readonly writes: RedisLink;
  private readonly readBreaker: StoreBreaker;
  private readonly writeBreaker: StoreBreaker;
  private readonly looking: NodeJS.Timeout;
  /** Why the server may forget what it acknowledged; '' where it may not. */
  private forgets = '';

  private constructor({ address, security }: RedisAddress) {
    const nodes = parseRedisNodes(FIELD, address);
    const place = `Redis at ${address}`;
    const isCluster = nodes.length > 1;
    const isTls = security?.tls !== undefined;
    const shared = { nodes, isCluster, isTls, security, place, field: PASSWORD_FIELD };
    const options = Object.assign(shared, { timeoutMs: CONNECT_TIMEOUT_MS, scripts: SCRIPTS });
    const onConnected = (redis: RedisClient) => void this.look(redis).catch(() => undefined);
    this.reads = new RedisLink(Object.assign({}, options, { onConnected }));
    this.writes = new RedisLink(options);
    const ping = () => this.reads.call((redis) => redis.ping());
    const isOfCluster = () => this.reads.isCluster;
    this.readBreaker = new StoreBreaker(place, { isCluster: isOfCluster, probe: ping });
    this.writeBreaker = new StoreBreaker(place, { isCluster: isOfCluster });
    const look = () => this.reads.call((redis) => this.look(redis)).catch(() => undefined);
    this.looking = setInterval(() => void look(), LOOK_EVERY_MS);
    this.looking.unref();
  }

  /**
   * Opens also while the address does not answer. Rejects with CONFIG_INVALID for a bad one, and
   * for a server that takes keys away.
   */
  static async open(options: RedisAddress): Promise<RedisConnection> {
    const connection = new RedisConnection(options);
    try {
      await connection.reads.call((redis) => connection.look(redis), WRITE_TIMEOUT_MS);
      return connection;
    } catch (thrown) {
      // One that is away may come back: what needs it is refused until then.
      if (TesseraError.from(thrown).code === 'STORE_UNAVAILABLE') return connection;
      connection.close();
      throw thrown;
    }
  }

  /** Runs a command that changes nothing. */
  read<T>(command: Command<T>, timeoutMs = READ_TIMEOUT_MS): Promise<T> {
    return this.readBreaker.call(() => this.reads.call(command, timeoutMs));
  }

  write<T>(command: Command<T>): Promise<T> {
    return this.writeBreaker.call(() => this.writes.call(command, WRITE_TIMEOUT_MS));
  }

  /** Acts on each server that has keys of its own, one after another. */
  async eachServer(act: (server: RedisClient) => Promise<void>, timeoutMs: number): Promise<void> {
    const servers = await this.read(async (redis) => mastersOf(redis), timeoutMs);
    for (const server of servers) await act(server as RedisClient);
  }

  reach(): StoreReach {
    const reads = this.readBreaker.read();
    if (reads.state === 'down') return reads;
    const { state, reason } = this.writeBreaker.read();
    if (state === 'down') return { state: 'degraded', reason };
    return { state: this.forgets === '' ? 'ok' : 'degraded', reason: this.forgets };
  }

  close(): void {
    clearInterval(this.looking);
    this.readBreaker.close();
    this.reads.close();
    this.writes.close();
  }

  /** Rejects with CONFIG_INVALID where the server evicts. */
  private async look(redis: RedisClient): Promise<void> {
    const { evictsBy, outlivesProcess } = await keyKeeping(redis);
    const lost = 'appendonly is off and no replica is there: a restart of Redis loses behaviours';
    this.forgets = outlivesProcess ? '' : lost;
    if (evictsBy === '') return;
    this.forgets = `expected maxmemory-policy noeviction or volatile-*, got ${evictsBy}`;
    const message = `${FIELD}: ${this.forgets}, by which behaviours and erasures are lost`;
    throw new TesseraError('CONFIG_INVALID', message, { field: FIELD });
  }
}
