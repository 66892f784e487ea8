import {
  isWrongServer,
  parseRedisNodes,
  type RedisAddress,
  type RedisNode,
  redisFault,
  redisRefusal,
} from '@tessera/redis';
import type { Log } from '@tessera/telemetry';
import { withinMs } from '@tessera/turns';
import type { Cluster, Redis, RedisOptions, Result } from 'ioredis';
import {
  APPEND_SCRIPT,
  BOUNDS_SCRIPT,
  DIGEST_SCRIPT,
  LEAVE_SCRIPT,
  POSITIONS_SCRIPT,
  SAY_SCRIPT,
} from './redis-scripts.js';

type Word = string | Uint8Array;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tesseraLogBounds(...keys: string[]): Result<[string, string, string], Context>;
    tesseraLogAppend(...rest: Word[]): Result<string, Context>;
    tesseraLogSay(...rest: string[]): Result<number, Context>;
    tesseraLogPositions(...keys: string[]): Result<string[], Context>;
    tesseraLogLeave(...rest: string[]): Result<number, Context>;
    tesseraLogDigest(...rest: string[]): Result<string, Context>;
  }
}

const SCRIPTS = {
  tesseraLogBounds: BOUNDS_SCRIPT,
  tesseraLogAppend: APPEND_SCRIPT,
  tesseraLogSay: SAY_SCRIPT,
  tesseraLogPositions: POSITIONS_SCRIPT,
  tesseraLogLeave: LEAVE_SCRIPT,
  tesseraLogDigest: DIGEST_SCRIPT,
};
const SCRIPT_KEYS = 4;

export const REDIS_FIELD = 'cluster.logRedis';
const COMMAND_TIMEOUT_MS = 2000;
/** Of making a connection, with all that is asked before it is used. */
const CONTACT_TIMEOUT_MS = 2500;

/** A server, or a cluster: commands are the same. */
export type RedisClient = Redis | Cluster;

/**
 * Connections to the server of a log. One that fails is given up, and the next call makes another
 * one: nothing is tried again behind a caller, and nothing waits for a server that is away.
 */
export class RedisLink {
  private contact: Promise<RedisClient> | undefined;
  private isCluster: boolean;
  private isLookedAt = false;

  private constructor(
    private readonly redis: Pick<typeof import('ioredis'), 'Cluster' | 'Redis'>,
    private readonly nodes: readonly RedisNode[],
    private readonly options: RedisAddress,
    private readonly place: string,
    private readonly nodeLog: Log | undefined,
  ) {
    this.isCluster = nodes.length > 1;
  }

  /** Opens also while the server is away. Rejects with CONFIG_INVALID. */
  static async open(options: RedisAddress, place: string, nodeLog?: Log): Promise<RedisLink> {
    const nodes = parseRedisNodes(REDIS_FIELD, options.address);
    const link = new RedisLink(await import('ioredis'), nodes, options, place, nodeLog);
    await link
      .call((client) => client.ping())
      .catch((thrown) => {
        if (thrown.code !== 'STORE_UNAVAILABLE') throw thrown;
      });
    return link;
  }

  /** Rejects with STORE_UNAVAILABLE, STORE_FULL and CONFIG_INVALID, within five seconds. */
  async call<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    this.contact ??= this.connected({ commandTimeout: COMMAND_TIMEOUT_MS });
    const { contact } = this;
    try {
      const client = await contact;
      return await withinMs(COMMAND_TIMEOUT_MS, command(client));
    } catch (thrown) {
      const isAnswer = thrown instanceof Error && thrown.name === 'ReplyError';
      if (!isAnswer || isWrongServer(thrown)) this.giveUp(contact);
      throw this.fault(thrown);
    }
  }

  /** A connection of its own, for commands that wait at the server; its owner disconnects it. */
  reader(): Promise<RedisClient> {
    return this.connected({}).catch((thrown) => {
      throw this.fault(thrown);
    });
  }

  fault(thrown: unknown) {
    return redisRefusal(REDIS_FIELD, thrown) ?? redisFault(this.place, thrown);
  }

  async close(): Promise<void> {
    const { contact } = this;
    if (contact !== undefined) this.giveUp(contact);
  }

  private giveUp(contact: Promise<RedisClient>): void {
    if (this.contact === contact) this.contact = undefined;
    contact.then(
      (client) => client.disconnect(),
      () => undefined,
    );
  }

  private async connected(options: RedisOptions): Promise<RedisClient> {
    const client = this.client(options);
    let reported: unknown;
    // Without a listener each failure would also be printed.
    client.on('error', (error: unknown) => {
      reported ??= error;
    });
    try {
      await withinMs(
        CONTACT_TIMEOUT_MS,
        client.connect().then(() => client.ping()),
      );
      if (await this.joinsCluster(client)) {
        client.disconnect();
        return await this.connected(options);
      }
      await this.lookAt(client);
      return client;
    } catch (thrown) {
      client.disconnect();
      // A connection that is refused only says that it is closed.
      throw reported ?? thrown;
    }
  }

  /** True if the only address turns out to be that of a node of a cluster. */
  private async joinsCluster(client: RedisClient): Promise<boolean> {
    if (this.isCluster || this.isLookedAt) return false;
    // A user who may not ask is told by MOVED, and has to name more addresses.
    const info = await withinMs(
      CONTACT_TIMEOUT_MS,
      client.info('cluster').catch(() => ''),
    );
    this.isCluster = info.includes('cluster_enabled:1');
    return this.isCluster;
  }

  /** Says so once where the server forgets the log when it restarts. */
  private async lookAt(client: RedisClient): Promise<void> {
    if (this.isLookedAt) return;
    const asked = client.config('GET', 'appendonly').catch(() => []);
    const [, kept] = (await withinMs(CONTACT_TIMEOUT_MS, asked)) as string[];
    this.isLookedAt = true;
    if (kept !== 'no') return;
    const text = 'the cluster log is lost when its server restarts: expected appendonly yes';
    this.nodeLog?.warn({ place: this.place }, `${text}, got no`);
  }

  private client(options: RedisOptions): RedisClient {
    const redisOptions: RedisOptions = {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      connectTimeout: COMMAND_TIMEOUT_MS,
      ...this.options.security,
      ...options,
    };
    const [only] = this.nodes;
    const client = this.isCluster
      ? new this.redis.Cluster([...this.nodes], { lazyConnect: true, redisOptions })
      : new this.redis.Redis({ ...only, ...redisOptions, retryStrategy: () => null });
    for (const [name, lua] of Object.entries(SCRIPTS)) {
      client.defineCommand(name, { lua, numberOfKeys: SCRIPT_KEYS });
    }
    return client;
  }
}
