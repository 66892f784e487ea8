import type { Socket } from 'node:net';
import { TesseraError } from '@tessera/errors';
import {
  isWrongServer,
  parseRedisNodes,
  type RedisNode,
  type RedisSecurity,
  redisFault,
  redisRefusal,
} from '@tessera/redis';
import { whileMoving, withinMs } from '@tessera/turns';
import type { Cluster, Redis, RedisOptions, Result } from 'ioredis';
import type { StoreAddress } from '../domain/store-address.js';
import { ERASE_SCRIPT, PUBLISH_SCRIPT, USE_SCRIPT, WRITE_SCRIPT } from './redis-scripts.js';

type Word = string | Uint8Array;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tesseraKvWrite(...rest: Word[]): Result<string, Context>;
    tesseraKvPublish(...rest: Word[]): Result<string, Context>;
    tesseraKvErase(...rest: Word[]): Result<string, Context>;
    tesseraKvUse(...rest: Word[]): Result<string, Context>;
  }
}

const SCRIPTS = {
  tesseraKvWrite: WRITE_SCRIPT,
  tesseraKvPublish: PUBLISH_SCRIPT,
  tesseraKvErase: ERASE_SCRIPT,
  tesseraKvUse: USE_SCRIPT,
};
const SCRIPT_KEYS = 2;
/** In which a node of a cluster says where slots are, before the next one is asked. */
const SLOTS_MS = 1000;
/** Of the time of a short call, so much at most takes one whose answer is long and moves. */
const MOVING_TIMES = 12;

export interface RedisContactOptions {
  readonly address: Extract<StoreAddress, { kind: 'redis' }>;
  readonly security?: RedisSecurity | undefined;
  /** Field of the configuration that an error of the address or password names. */
  readonly field: string;
  /** `Redis at ...`, for messages. */
  readonly place: string;
  /** Of a call, and of making a connection; of one whose answer is long, without a byte of it. */
  readonly timeoutMs: number;
}

/** A lone server, what sentinels name, or a cluster: commands are the same. */
export type RedisClient = Redis;
type Library = Pick<typeof import('ioredis'), 'Cluster' | 'Redis'>;

/**
 * One connection, to each node of a cluster one. To a lone server it is given up where a call fails
 * by it, and the next call makes another one: nothing is tried again behind a caller. A cluster's
 * client looks for its nodes itself.
 */
export class RedisContact {
  private readonly nodes: readonly RedisNode[];
  private contact: Promise<RedisClient> | undefined;
  isCluster: boolean;
  private client: Redis | Cluster | undefined;
  private isClosed = false;

  /** @throws TesseraError CONFIG_INVALID for a bad address */
  constructor(private readonly options: RedisContactOptions) {
    const { address, field } = options;
    this.nodes = parseRedisNodes(field, address.nodes);
    this.isCluster = address.isCluster;
  }

  /** Rejects with STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT and CONFIG_INVALID. */
  call<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.options;
    return this.answered(command, (act) => withinMs(timeoutMs, act));
  }

  /** As call(), for as long as bytes come: what is late is not lost. */
  callMoving<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.options;
    const limits = { stillMs: timeoutMs, mostMs: MOVING_TIMES * timeoutMs };
    return this.answered(command, (act) => whileMoving(limits, () => this.arrivedBytes(), act));
  }

  /** Of the connections that are there: another number whenever some have come. */
  arrivedBytes(): number {
    const { client } = this;
    if (client === undefined) return 0;
    const nodes = 'nodes' in client ? client.nodes() : [client];
    // A node that has no connection has no stream.
    return nodes.reduce(
      (sum, { stream }) => sum + ((stream as Socket | undefined)?.bytesRead ?? 0),
      0,
    );
  }

  private async answered<T>(
    command: (client: RedisClient) => Promise<T>,
    limited: (act: Promise<T>) => Promise<T>,
  ): Promise<T> {
    if (this.isClosed) throw this.fault(new Error('the connection is closed'));
    this.contact ??= this.connected();
    const { contact } = this;
    try {
      const act = async () => command(await contact);
      return await limited(act());
    } catch (thrown) {
      const isAnswer = thrown instanceof Error && thrown.name === 'ReplyError';
      if (!isAnswer || (isWrongServer(thrown) && !this.isCluster)) this.lost(contact);
      throw this.fault(thrown);
    }
  }

  fault(thrown: unknown): TesseraError {
    if (thrown instanceof TesseraError) return thrown;
    const { field, place } = this.options;
    const { message } = thrown as Error;
    const cause = { cause: thrown };
    if (/(^|[\s-])WRONGTYPE /.test(message)) {
      return new TesseraError('STORE_CORRUPT', `${place}: ${message}`, cause);
    }
    return redisRefusal(field, thrown) ?? redisFault(place, thrown);
  }

  close(): void {
    this.isClosed = true;
    const { contact } = this;
    if (contact !== undefined) this.giveUp(contact);
  }

  /** A cluster has other nodes that answer; a client that never had one is no use. */
  private lost(contact: Promise<RedisClient>): void {
    if (!this.isCluster) this.giveUp(contact);
    else contact.catch(() => this.giveUp(contact));
  }

  private giveUp(contact: Promise<RedisClient>): void {
    if (this.contact === contact) this.contact = undefined;
    contact.then(
      (client) => client.disconnect(),
      () => undefined,
    );
  }

  private async connected(): Promise<RedisClient> {
    // Loaded only where a store is Redis.
    const library = await import('ioredis');
    const client = this.clientOf(library);
    this.client = client as Redis | Cluster;
    let reported: unknown;
    // Without a listener each failure would also be printed.
    client.on('error', (error: unknown) => {
      reported ??= error;
    });
    try {
      const { timeoutMs } = this.options;
      // A cluster has answered which slots are where; a ping may go to a node that is away.
      const isThere = async () => {
        await client.connect();
        if (!this.isCluster) await client.ping();
      };
      await withinMs(timeoutMs, isThere());
      // A user who may not ask is told by MOVED, and has to say ?cluster.
      const info = this.isCluster ? '' : await client.info('cluster').catch(() => '');
      if (!info.includes('cluster_enabled:1')) return client;
      this.isCluster = true;
      client.disconnect();
      return await this.connected();
    } catch (thrown) {
      client.disconnect();
      // A connection that is refused only says that it is closed.
      throw reported ?? thrown;
    }
  }

  private clientOf(library: Library): RedisClient {
    const { isTls, sentinel } = this.options.address;
    const { security = {}, timeoutMs } = this.options;
    const { tls = {}, ...account } = security;
    const redisOptions: RedisOptions = {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      connectTimeout: timeoutMs,
      ...account,
      ...(isTls && { tls: tls as NonNullable<RedisOptions['tls']> }),
    };
    const client = this.isCluster
      ? this.clusterClient(library, redisOptions)
      : new library.Redis({ ...redisOptions, ...this.seat(sentinel), retryStrategy: () => null });
    for (const [name, lua] of Object.entries(SCRIPTS)) {
      client.defineCommand(name, { lua, numberOfKeys: SCRIPT_KEYS });
    }
    // Of the union of both kinds of client TypeScript resolves no overload.
    return client as RedisClient;
  }

  private clusterClient(library: Library, redisOptions: RedisOptions): Cluster {
    const { timeoutMs } = this.options;
    const nodeOptions = { ...redisOptions, commandTimeout: timeoutMs, socketTimeout: timeoutMs };
    return new library.Cluster([...this.nodes], {
      lazyConnect: true,
      slotsRefreshTimeout: Math.min(timeoutMs, SLOTS_MS),
      redisOptions: nodeOptions,
    });
  }

  /** The address of a lone server, or the sentinels that know it. */
  private seat(sentinel: string | undefined): RedisOptions {
    const [only] = this.nodes;
    if (sentinel === undefined) return { ...only };
    const { isTls } = this.options.address;
    const tls = this.options.security?.tls ?? {};
    return {
      sentinels: [...this.nodes],
      name: sentinel,
      sentinelRetryStrategy: () => null,
      ...(isTls && {
        enableTLSForSentinelMode: true,
        sentinelTLS: tls as NonNullable<RedisOptions['tls']>,
      }),
    };
  }
}
