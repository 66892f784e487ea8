import { StoreBreaker, type StoreReach } from '@tessera/breaker';
import {
  isWrongServer,
  parseRedisNodes,
  type RedisAddress,
  type RedisNode,
  redisFault,
  redisRefusal,
} from '@tessera/redis';
import { withinMs } from '@tessera/turns';
import type { Cluster, Redis, RedisOptions, Result } from 'ioredis';
import { APPEND_SCRIPT, ERASE_SCRIPT, HISTORY_SCRIPT } from './redis-scripts.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tesseraAppend(keyCount: number, ...rest: string[]): Result<number[], Context>;
    tesseraHistory(keyCount: number, ...rest: string[]): Result<string[] | null, Context>;
    tesseraErase(keyCount: number, ...rest: string[]): Result<number, Context>;
  }
}

const COMMAND_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 2000;
/**
 * Of a call with its retries and redirections. A cluster that looks for its nodes keeps commands
 * without any bound of its own.
 */
const CALL_TIMEOUT_MS = 6000;
/** Of what a recall waits for. */
const READ_TIMEOUT_MS = 500;

const PASSWORD_FIELD = 'behaviours.redisPasswordPath';

type Client = Redis | Cluster;
type Command<T> = (redis: Client) => Promise<T>;

/**
 * The client of Redis and what is known of its reach. One address of a cluster becomes a client of
 * the cluster as soon as the server says that it is part of one. Reads and writes fail apart: a
 * primary that has become a replica answers the first and refuses the second.
 */
export class RedisConnection {
  private client: Client;
  private reads: StoreBreaker;
  private writes: StoreBreaker;
  /** True if the server that became ready last is part of a cluster is known, and acted upon. */
  private joined: Promise<void> = Promise.resolve();
  /** The newest error of the client. */
  private reported: unknown;

  private constructor(
    private readonly redis: Pick<typeof import('ioredis'), 'Cluster' | 'Redis'>,
    private readonly options: RedisAddress,
    private readonly addresses: readonly RedisNode[],
  ) {
    const [only] = addresses;
    const isLone = addresses.length === 1 && only !== undefined;
    this.client = isLone ? this.loneClient(only) : this.clusterClient();
    this.reads = this.breaker(this.probe);
    this.writes = this.breaker();
  }

  /** Opens also while the address does not answer. Rejects with CONFIG_INVALID for a bad one. */
  static async open(options: RedisAddress): Promise<RedisConnection> {
    const nodes = parseRedisNodes('behaviours.redis', options.address);
    // Loaded only where behaviours are in Redis.
    const connection = new RedisConnection(await import('ioredis'), options, nodes);
    await connection.connect();
    return connection;
  }

  /** Runs a command that changes nothing. */
  read<T>(command: Command<T>, timeoutMs = READ_TIMEOUT_MS): Promise<T> {
    return this.call(this.reads, command, timeoutMs);
  }

  write<T>(command: Command<T>): Promise<T> {
    return this.call(this.writes, command, CALL_TIMEOUT_MS);
  }

  /** Those that have keys of their own. */
  nodes(): readonly Redis[] {
    const { client } = this;
    return 'nodes' in client ? client.nodes('master') : [client];
  }

  reach(): StoreReach {
    const reads = this.reads.read();
    if (reads.state === 'down') return reads;
    const { state, reason } = this.writes.read();
    return { state: state === 'down' ? 'degraded' : 'ok', reason };
  }

  async close(): Promise<void> {
    const { client } = this;
    this.reads.close();
    await withinMs(CALL_TIMEOUT_MS, client.quit()).catch(() => client.disconnect());
  }

  private async connect(): Promise<void> {
    try {
      // A cluster that is not ready yet keeps the ping without any bound, too.
      await withinMs(
        CALL_TIMEOUT_MS,
        this.client.connect().then(() => this.client.ping()),
      );
      await this.joined;
    } catch (thrown) {
      // A connection that is refused only says that it is closed.
      const known = redisRefusal(PASSWORD_FIELD, this.reported);
      const error = known ?? redisRefusal(PASSWORD_FIELD, thrown) ?? this.fault(thrown);
      // One that is away may come back: what needs it is refused until then.
      if (error.code !== 'STORE_UNAVAILABLE') {
        this.client.disconnect();
        throw error;
      }
    }
  }

  private async call<T>(breaker: StoreBreaker, command: Command<T>, timeoutMs: number): Promise<T> {
    return breaker.call(async () => {
      try {
        return await withinMs(timeoutMs, command(this.client));
      } catch (thrown) {
        throw this.fault(thrown);
      }
    });
  }

  /** Where the only address is that of a node of a cluster. Does nothing where it is not. */
  private async joinCluster(client: Client): Promise<void> {
    // A user who may not ask is told by MOVED, and has to name more addresses.
    const info = await client.info('cluster').catch(() => '');
    if (!info.includes('cluster_enabled:1') || client !== this.client) return;
    this.client = this.clusterClient();
    this.reads.close();
    this.reads = this.breaker(this.probe);
    this.writes = this.breaker();
    client.quit().catch(() => client.disconnect());
    await withinMs(CALL_TIMEOUT_MS, this.client.connect());
  }

  private fault(thrown: unknown) {
    return redisFault(`Redis at ${this.options.address}`, thrown);
  }

  private readonly probe = () => withinMs(CALL_TIMEOUT_MS, this.client.ping());

  private breaker(probe?: () => Promise<unknown>): StoreBreaker {
    const isCluster = () => 'nodes' in this.client;
    const options = { isCluster, ...(probe && { probe }) };
    return new StoreBreaker(`Redis at ${this.options.address}`, options);
  }

  private loneClient(node: RedisNode): Client {
    let isLeaving = false;
    // The address may lead elsewhere by now. The call fails, the next one has a new connection.
    const reconnectOnError = (error: Error) => {
      if (isLeaving || !isWrongServer(error)) return false;
      isLeaving = true;
      return true;
    };
    const options = { ...node, ...this.clientOptions(), reconnectOnError };
    const client = this.ready(new this.redis.Redis(options));
    client.on('close', () => {
      isLeaving = false;
    });
    // A server that was away at the start says only now that it is part of a cluster.
    client.on('ready', () => {
      this.joined = this.joinCluster(client).catch((error: unknown) => {
        this.reported = error;
      });
    });
    return client;
  }

  private clusterClient(): Client {
    const redisOptions = this.clientOptions();
    return this.ready(
      new this.redis.Cluster([...this.addresses], { lazyConnect: true, redisOptions }),
    );
  }

  private clientOptions(): RedisOptions {
    return {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      ...this.options.security,
    };
  }

  private ready(client: Client): Client {
    // Failures show in the calls; without a listener each would also be printed.
    client.on('error', (error: unknown) => {
      this.reported = error;
    });
    client.defineCommand('tesseraAppend', { lua: APPEND_SCRIPT });
    client.defineCommand('tesseraHistory', { lua: HISTORY_SCRIPT, readOnly: true });
    client.defineCommand('tesseraErase', { lua: ERASE_SCRIPT });
    return client;
  }
}
