import { TesseraError } from '@tessera/errors';
import { parseRedisNodes, type RedisClient, RedisLink, type RedisSecurity } from '@tessera/redis';
import type { Result } from 'ioredis';
import type { ChainName, FoundHead, SharedKvStore } from '../domain/kv-store.js';
import type { StoreAddress } from '../domain/store-address.js';
import { checkChain, checkName, checkPrefix } from '../domain/store-names.js';
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
  tesseraKvWrite: { lua: WRITE_SCRIPT, numberOfKeys: 2 },
  tesseraKvPublish: { lua: PUBLISH_SCRIPT, numberOfKeys: 2 },
  tesseraKvErase: { lua: ERASE_SCRIPT, numberOfKeys: 2 },
  tesseraKvUse: { lua: USE_SCRIPT, numberOfKeys: 2 },
};

export interface RedisStoreOptions {
  readonly address: Extract<StoreAddress, { kind: 'redis' }>;
  /** Left out: no password; certificates of the system where the address says TLS. */
  readonly security?: RedisSecurity | undefined;
  /** Deployments of one server differ by it. */
  readonly prefix: string;
  /** Milliseconds for which an owner is kept that nobody reads or writes. */
  readonly ttlMs: number;
  /** Time limit of one call, the connection included. */
  readonly timeoutMs: number;
  /** Field of the configuration, for messages. */
  readonly field: string;
}

/** A process that has not applied an erasure for so long is none. */
const FENCE_TTL_MS = 366 * 24 * 60 * 60 * 1000;
/** A chain that is read is kept on, by one command in so many milliseconds. */
const USE_EVERY_MS = 60_000;
/** So many chains are known to have been kept on. */
const USED_MAX = 65_536;

/**
 * A store in Redis 7 or Valkey: a lone server, one that sentinels name, or a cluster. Keys of an
 * owner, in one slot: `PREFIX:{OWNER}` (a hash of all its versions, see redis-scripts.ts) and
 * `PREFIX:{OWNER}:erased` (the offset of its newest erasure, kept for a year). Finds, reads
 * and writes have a connection each: a head waits behind no megabytes, whichever way they go.
 */
export class RedisSharedStore implements SharedKvStore {
  readonly place: string;
  private readonly finds: RedisLink;
  private readonly reads: RedisLink;
  private readonly writes: RedisLink;
  private readonly used = new Map<string, number>();

  /** Asks nothing yet. @throws TesseraError CONFIG_INVALID */
  constructor(private readonly options: RedisStoreOptions) {
    const { address, field, prefix } = options;
    checkPrefix(field, prefix);
    this.place = `Redis at ${address.nodes}, ${prefix}`;
    const { security, timeoutMs } = options;
    const nodes = parseRedisNodes(field, address.nodes);
    const own = { nodes, security, timeoutMs, field, place: this.place, scripts: SCRIPTS };
    const link = Object.assign({}, address, own);
    this.finds = new RedisLink(link);
    this.reads = new RedisLink(link);
    this.writes = new RedisLink(link);
  }

  get isCluster(): boolean {
    return this.contacts.some(({ isCluster }) => isCluster);
  }

  arrivedBytes(): number {
    return this.contacts.reduce((sum, contact) => sum + contact.arrivedBytes(), 0);
  }

  async find(chain: ChainName): Promise<FoundHead | undefined> {
    checkChain(chain);
    const { version } = chain;
    const [key] = this.keysOf(chain.owner);
    const fields = [`${version}h`, `${version}r`] as const;
    const found = await this.finds.call((client) => client.hmgetBuffer(key, ...fields));
    const [head, revision] = Array.isArray(found) ? found : [this.bytesOf(found)];
    if (head === null || revision === null) return undefined;
    this.use(chain);
    return { head: this.bytesOf(head), revision: String(this.bytesOf(revision)) };
  }

  async read(chain: ChainName, block: string): Promise<Uint8Array | undefined> {
    checkChain(chain);
    checkName('block', block);
    const [key] = this.keysOf(chain.owner);
    const field = `${chain.version}b${block}`;
    const bytes: unknown = await this.reads.callMoving((client) => client.hgetBuffer(key, field));
    if (bytes === null) return undefined;
    this.use(chain);
    return this.bytesOf(bytes);
  }

  async write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    checkChain(chain);
    checkName('block', block);
    const words = [...this.wordsOf(chain, erasedUntil), block, asBuffer(bytes)];
    const said = await this.said((client) => client.tesseraKvWrite(...words));
    if (said === 'kept' || said === 'erased') return said;
    throw this.strange('kept or erased', said);
  }

  async publish(
    chain: ChainName,
    head: Uint8Array,
    replaces: string,
    gone: readonly string[],
    erasedUntil: number,
  ) {
    checkChain(chain);
    for (const block of gone) checkName('gone', block);
    const words = [...this.wordsOf(chain, erasedUntil), asBuffer(head), replaces, ...gone];
    const said = await this.said((client) => client.tesseraKvPublish(...words));
    if (said === 'changed' || said === 'erased') return said;
    if (/^\d+$/.test(said)) return { kept: said };
    throw this.strange('a revision, changed or erased', said);
  }

  async erase(owner: string, at: number): Promise<void> {
    checkName('owner', owner);
    const words = [...this.keysOf(owner), String(at), String(FENCE_TTL_MS)];
    const said = await this.said((client) => client.tesseraKvErase(...words));
    if (said !== 'kept') throw this.strange('kept', said);
  }

  async close(): Promise<void> {
    for (const contact of this.contacts) contact.close();
  }

  private get contacts(): readonly RedisLink[] {
    return [this.finds, this.reads, this.writes];
  }

  private keysOf(owner: string): readonly [string, string] {
    const key = `${this.options.prefix}:{${owner}}`;
    return [key, `${key}:erased`];
  }

  private wordsOf({ owner, version }: ChainName, erasedUntil: number): string[] {
    const ttl = String(this.options.ttlMs);
    return [...this.keysOf(owner), String(erasedUntil), version, ttl];
  }

  private async said(command: (client: RedisClient) => Promise<string>): Promise<string> {
    return String(await this.writes.call(command));
  }

  /** Not awaited: a chain that expires early is computed. */
  private use({ owner, version }: ChainName): void {
    const chain = owner + version;
    const nowMs = performance.now();
    if (nowMs - (this.used.get(chain) ?? -USE_EVERY_MS) < USE_EVERY_MS) return;
    const [oldest] = this.used.keys();
    if (this.used.size >= USED_MAX && oldest !== undefined) this.used.delete(oldest);
    this.used.delete(chain);
    this.used.set(chain, nowMs);
    const words = [...this.keysOf(owner), version, String(this.options.ttlMs)];
    this.writes.call((client) => client.tesseraKvUse(...words)).catch(() => undefined);
  }

  private bytesOf(answer: unknown): Buffer {
    if (Buffer.isBuffer(answer)) return answer;
    throw this.strange('bytes', typeof answer);
  }

  private strange(expected: string, got: string): TesseraError {
    const text = `${this.place}: expected ${expected}, got ${got.slice(0, 100)}`;
    return new TesseraError('STORE_UNAVAILABLE', text);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
