import type { Socket } from 'node:net';
import type { StoreSecurity } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { whileMoving, withinMs } from '@tessera/turns';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisNode } from './redis-address.js';
import { isWrongServer, redisFault, redisRefusal } from './redis-faults.js';

/** In which a node of a cluster says where slots are, before the next one is asked. */
const SLOTS_MS = 1000;
/** Multiple of a short call's time that a call with a long, moving answer may take. */
const MOVING_TIMES = 12;

export interface RedisLinkOptions {
  /** Addresses: one of a lone server, otherwise some of a cluster's nodes or of sentinels. */
  readonly nodes: readonly RedisNode[];
  readonly isCluster: boolean;
  readonly isTls: boolean;
  /** The name that sentinels have for the primary; left out: `nodes` are no sentinels. */
  readonly sentinel?: string | undefined;
  readonly security?: StoreSecurity | undefined;
  /** Field of the configuration that an error of the address or password names. */
  readonly field: string;
  /** `Redis at ...`, for messages. */
  readonly place: string;
  /** Time limit of a call and of a connection attempt; of a long answer, without a byte of it. */
  readonly timeoutMs: number;
  /** Told of each connection that is made. */
  readonly onConnected?: (client: RedisClient) => void;
  /** Commands of the client. */
  readonly scripts: Readonly<
    Record<string, { readonly lua: string; readonly numberOfKeys?: number }>
  >;
}

/** A lone server, what sentinels name, or a cluster: commands are the same. */
export type RedisClient = Redis;
type Library = Pick<typeof import('ioredis'), 'Cluster' | 'Redis'>;

/** The servers that have keys of their own. */
export function mastersOf(client: RedisClient): readonly Redis[] {
  const any = client as Redis | Cluster;
  return 'nodes' in any ? any.nodes('master') : [any];
}

/**
 * One connection, to each node of a cluster one. To a lone server it is given up where a call fails
 * by it, and the next call makes another one, with the files and passwords of that moment: nothing
 * is tried again behind a caller. A cluster's client looks for its nodes itself.
 */
export class RedisLink {
  private contact: Promise<RedisClient> | undefined;
  isCluster: boolean;
  private client: Redis | Cluster | undefined;
  private isClosed = false;
  /** Redis has answered a command. */
  private wasKnown = false;

  constructor(private readonly options: RedisLinkOptions) {
    this.isCluster = options.isCluster;
  }

  /** Rejects with STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT and CONFIG_INVALID. */
  call<T>(
    command: (client: RedisClient) => Promise<T>,
    timeoutMs = this.options.timeoutMs,
  ): Promise<T> {
    return this.answered(command, (act) => withinMs(timeoutMs, act));
  }

  /** Calls as call() does, for as long as bytes come: slow is not away. */
  callMoving<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.options;
    const limits = { stillMs: timeoutMs, mostMs: MOVING_TIMES * timeoutMs };
    return this.answered(command, (act) => whileMoving(limits, () => this.arrivedBytes(), act));
  }

  /** Bytes that have arrived on the present connections: it differs whenever some have come. */
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

  close(): void {
    this.isClosed = true;
    const { contact } = this;
    if (contact !== undefined) this.giveUp(contact);
  }

  private async answered<T>(
    command: (client: RedisClient) => Promise<T>,
    limited: (act: Promise<T>) => Promise<T>,
  ): Promise<T> {
    if (this.isClosed) throw this.fault(new Error('the connection is closed'));
    this.contact ??= this.begun();
    const { contact } = this;
    let client: RedisClient | undefined;
    try {
      const act = async () => {
        client = await contact;
        return command(client);
      };
      const answer = await limited(act());
      this.wasKnown = true;
      return answer;
    } catch (thrown) {
      // One that is being made goes on for the next call, or fails by itself.
      if (client !== undefined && !this.isCluster && isLost(thrown)) this.giveUp(contact);
      throw this.fault(thrown);
    }
  }

  private fault(thrown: unknown): TesseraError {
    if (thrown instanceof TesseraError) return thrown;
    const { field, place } = this.options;
    const { message } = thrown as Error;
    const cause = { cause: thrown };
    if (/(^|[\s-])WRONGTYPE /.test(message)) {
      return new TesseraError('STORE_CORRUPT', `${place}: ${message}`, cause);
    }
    return redisRefusal(field, thrown, { wasKnown: this.wasKnown }) ?? redisFault(place, thrown);
  }

  /** A connection that could not be made is of no use to the next call. */
  private begun(): Promise<RedisClient> {
    const contact = this.connected();
    contact.catch(() => this.giveUp(contact));
    contact.then(
      (client) => {
        client.once('end', () => this.giveUp(contact));
        this.options.onConnected?.(client);
      },
      () => undefined,
    );
    return contact;
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
    const { isTls, sentinel, scripts, security = {}, timeoutMs } = this.options;
    const redisOptions: RedisOptions = {
      lazyConnect: true,
      maxRetriesPerRequest: 1,
      connectTimeout: timeoutMs,
      ...(security.username !== undefined && { username: security.username }),
      // A cluster's client makes connections by itself, each with the password of its moment.
      get password() {
        return security.password;
      },
      ...(isTls && { tls: (security.tls ?? {}) as NonNullable<RedisOptions['tls']> }),
    };
    const client = this.isCluster
      ? this.clusterClient(library, redisOptions)
      : new library.Redis({ ...redisOptions, ...this.seat(sentinel), retryStrategy: () => null });
    for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script);
    // Of the union of both kinds of client TypeScript resolves no overload.
    return client as RedisClient;
  }

  private clusterClient(library: Library, redisOptions: RedisOptions): Cluster {
    const { nodes, timeoutMs } = this.options;
    Object.assign(redisOptions, { commandTimeout: timeoutMs, socketTimeout: timeoutMs });
    return new library.Cluster([...nodes], {
      lazyConnect: true,
      slotsRefreshTimeout: Math.min(timeoutMs, SLOTS_MS),
      redisOptions,
    });
  }

  /** The address of a lone server, or the sentinels that know it. */
  private seat(sentinel: string | undefined): RedisOptions {
    const { nodes, isTls, security } = this.options;
    const [only] = nodes;
    if (sentinel === undefined) return { ...only };
    return {
      sentinels: [...nodes],
      name: sentinel,
      sentinelRetryStrategy: () => null,
      ...(isTls && {
        enableTLSForSentinelMode: true,
        sentinelTLS: (security?.tls ?? {}) as NonNullable<RedisOptions['tls']>,
      }),
    };
  }
}

/** True if the connection is at fault, or leads to the wrong server. */
function isLost(thrown: unknown): boolean {
  const isAnswer = thrown instanceof Error && thrown.name === 'ReplyError';
  return !isAnswer || isWrongServer(thrown) || /NOAUTH/.test(thrown.message);
}
