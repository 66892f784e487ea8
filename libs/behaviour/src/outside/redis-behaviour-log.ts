import { TesseraError } from '@tessera/errors';
import type { Cluster, Redis, RedisOptions, Result } from 'ioredis';
import { type BehaviourEvent, type StoredBehaviour } from '../domain/behaviour-event.js';
import { type AppendOutcome, BehaviourLog, byTimeAndEvent } from '../domain/behaviour-log.js';
import type { StoreReach } from '../domain/behaviour-store.js';
import { FUTURE_MS_MAX } from '../domain/plausible-time.js';
import type { Retention } from '../domain/retention.js';
import { StoreBreaker } from '../store-breaker.js';
import { Arrivals, payloadOf, storedBehaviours } from './event-payload.js';
import { APPEND_SCRIPT, ERASE_SCRIPT, HISTORY_SCRIPT } from './redis-scripts.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tesseraAppend(keyCount: number, ...rest: string[]): Result<number[], Context>;
    tesseraHistory(keyCount: number, ...rest: string[]): Result<string[] | null, Context>;
    tesseraErase(keyCount: number, ...rest: string[]): Result<number, Context>;
  }
}

const APPEND_OUTCOMES: readonly AppendOutcome[] = ['added', 'duplicate', 'outside'];
/** Events of one script call: a longer one would keep other clients waiting. */
const EVENTS_PER_CALL_MAX = 500;
const SCAN_COUNT = 500;
const COMMAND_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 2000;
/**
 * Of a call with its retries and redirections. A cluster that looks for its nodes keeps commands
 * without any bound of its own.
 */
const CALL_TIMEOUT_MS = 6000;
/** Of what a recall waits for. */
const READ_TIMEOUT_MS = 500;

/** How Redis is shown who calls. */
export interface RedisSecurity {
  readonly username?: string;
  readonly password?: string;
  /** PEM texts; left out: no TLS. */
  readonly tls?: {
    readonly ca: Buffer | undefined;
    readonly cert: Buffer | undefined;
    readonly key: Buffer | undefined;
  };
}

export interface RedisBehaviourOptions {
  /** `host:port`, or several of one cluster separated by commas. */
  readonly address: string;
  /** Left out: no password and no TLS. */
  readonly security?: RedisSecurity | undefined;
  /** Put before every key. */
  readonly keyPrefix: string;
  readonly retention: Retention;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Behaviours in Redis or a Redis cluster; all keys of a user lie in one slot. */
export class RedisBehaviourLog extends BehaviourLog {
  readonly userCount = null;
  private readonly breaker: StoreBreaker;
  private readonly arrivals: Arrivals;

  private constructor(
    private readonly redis: Redis | Cluster,
    private readonly options: RedisBehaviourOptions,
  ) {
    super();
    this.arrivals = new Arrivals(options.nowMs);
    const isCluster = options.address.includes(',');
    this.breaker = new StoreBreaker(`Redis at ${options.address}`, { isCluster });
  }

  /**
   * Opens also while the address does not answer. Rejects with CONFIG_INVALID for a bad one.
   */
  static async open(options: RedisBehaviourOptions): Promise<RedisBehaviourLog> {
    const redis = await connectionTo(options);
    // Failures show in the calls; without a listener each would also be printed.
    let reported: unknown;
    redis.on('error', (error: unknown) => {
      reported = error;
    });
    redis.defineCommand('tesseraAppend', { lua: APPEND_SCRIPT });
    redis.defineCommand('tesseraHistory', { lua: HISTORY_SCRIPT, readOnly: true });
    redis.defineCommand('tesseraErase', { lua: ERASE_SCRIPT });
    const log = new RedisBehaviourLog(redis, options);
    try {
      // A cluster that is not ready yet keeps the ping without any bound, too.
      await withinMs(
        CALL_TIMEOUT_MS,
        redis.connect().then(() => redis.ping()),
      );
    } catch (thrown) {
      // A connection that is refused only says that it is closed.
      const error = log.refused(reported) ?? log.refused(thrown) ?? log.unavailable(thrown);
      // One that is away may come back: what needs it is refused until then.
      if (error.code !== 'STORE_UNAVAILABLE') {
        redis.disconnect();
        throw error;
      }
    }
    return log;
  }

  override get retention(): Retention {
    return this.options.retention;
  }

  override reach(): StoreReach {
    return this.breaker.read();
  }

  async append(events: readonly BehaviourEvent[]): Promise<readonly AppendOutcome[]> {
    const outcomes = new Array<AppendOutcome>(events.length);
    const byUser = new Map<string, number[]>();
    events.forEach(({ userId }, index) => {
      const indices = byUser.get(userId);
      if (indices === undefined) byUser.set(userId, [index]);
      else indices.push(index);
    });
    const calls = [...byUser].flatMap(([userId, indices]) =>
      chunks(indices, EVENTS_PER_CALL_MAX).map(async (chunk) => {
        const args = chunk.flatMap((index) => this.eventArgs(events[index] as BehaviourEvent));
        const keys = this.keysOf(userId);
        const replies = await this.call(() =>
          this.redis.tesseraAppend(keys.length, ...keys, ...this.windowArgs(), ...args),
        );
        replies.forEach((outcome, i) => {
          outcomes[chunk[i] as number] = APPEND_OUTCOMES[outcome] as AppendOutcome;
        });
      }),
    );
    await Promise.all(calls);
    return outcomes;
  }

  async history(userId: string, limit: number): Promise<readonly StoredBehaviour[] | null> {
    const keys = this.keysOf(userId);
    const oldest = this.options.retention.oldestMs(this.options.nowMs()).map(String);
    const found = await this.call(
      () => this.redis.tesseraHistory(keys.length, ...keys, String(limit), ...oldest),
      READ_TIMEOUT_MS,
    );
    if (found === null) return null;
    const behaviours = Array.from({ length: found.length / 3 }, (_, i) => ({
      eventId: found[3 * i] as string,
      timeMs: Number(found[3 * i + 1]),
      payload: found[3 * i + 2] as string,
    }));
    behaviours.sort(byTimeAndEvent);
    return storedBehaviours(limit > 0 ? behaviours.slice(-limit) : []);
  }

  async profile(userId: string): Promise<Readonly<Record<string, string>> | null> {
    const record = this.recordKey(userId);
    const [known, profile] = await this.call(
      () => this.redis.hmget(record, 'known', 'profile'),
      READ_TIMEOUT_MS,
    );
    if (known === null) return null;
    return JSON.parse(profile ?? '{}');
  }

  async putProfile(userId: string, profile: Readonly<Record<string, string>>): Promise<void> {
    const fields = { known: '1', profile: JSON.stringify(profile) };
    await this.call(() => this.redis.hset(this.recordKey(userId), fields));
  }

  async erase(userId: string, untilMs: number): Promise<boolean> {
    const keys = this.keysOf(userId);
    const { retention, nowMs } = this.options;
    const oldest = retention.oldestMs(nowMs()).map(String);
    const known = await this.call(() =>
      this.redis.tesseraErase(
        keys.length,
        ...keys,
        ...[String(untilMs), ...this.clockArgs(), ...oldest],
      ),
    );
    return known === 1;
  }

  async userIds(limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    const match = `${this.options.keyPrefix}{*}:r`;
    const nodes = 'nodes' in this.redis ? this.redis.nodes('master') : [this.redis];
    for (const node of nodes) {
      let cursor = '0';
      do {
        const [next, keys] = await this.call(() =>
          node.scan(cursor, 'MATCH', match, 'COUNT', SCAN_COUNT),
        );
        const known = await Promise.all(
          keys.map((key) => this.call(() => node.hexists(key, 'known'))),
        );
        found.push(...keys.filter((_, i) => known[i] === 1).map((key) => this.userOf(key)));
        cursor = next;
      } while (cursor !== '0' && found.length < limit);
    }
    return found.sort().slice(0, limit);
  }

  async close(): Promise<void> {
    const quit = withinMs(CALL_TIMEOUT_MS, this.redis.quit());
    await quit.catch(() => this.redis.disconnect());
  }

  private eventArgs(event: BehaviourEvent): string[] {
    const window = this.options.retention.windowOf(event.action) + 1;
    return [
      event.eventId,
      String(window),
      String(event.timeMs),
      payloadOf(event, this.arrivals.next()),
    ];
  }

  private windowArgs(): string[] {
    const { retention, nowMs } = this.options;
    const { windows } = retention;
    const oldest = retention.oldestMs(nowMs());
    const counts = windows.map((window) => window.behavioursMax);
    return [...[windows.length, ...counts, ...oldest].map(String), ...this.clockArgs()];
  }

  /** Now, and the latest time that events may have. */
  private clockArgs(): string[] {
    const nowMs = this.options.nowMs();
    return [String(nowMs), String(nowMs + FUTURE_MS_MAX)];
  }

  private recordKey(userId: string): string {
    // A brace in the ID would end the hash tag, which puts a user's keys into one slot.
    const id = userId.replace(/[%{}]/g, (char) => encodeURIComponent(char));
    return `${this.options.keyPrefix}{${id}}:r`;
  }

  private userOf(recordKey: string): string {
    return decodeURIComponent(recordKey.slice(this.options.keyPrefix.length + 1, -'}:r'.length));
  }

  private keysOf(userId: string): string[] {
    const stem = this.recordKey(userId).slice(0, -1);
    const windows = this.options.retention.windows.map((_, index) => `${stem}w${index}`);
    return [`${stem}r`, `${stem}e`, ...windows];
  }

  private call<T>(command: () => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
    return this.breaker.call(async () => {
      try {
        return await withinMs(timeoutMs, command());
      } catch (thrown) {
        throw this.unavailable(thrown);
      }
    });
  }

  /** Faults that trying again does not mend: Redis does not know the caller. */
  private refused(thrown: unknown): TesseraError | undefined {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    if (!/WRONGPASS|NOAUTH|NOPERM/.test(reason)) return undefined;
    const field = 'behaviours.redisPasswordPath';
    const message = `${field}: expected user and password that Redis knows, got: ${reason}`;
    return new TesseraError('CONFIG_INVALID', message, { field, cause: thrown });
  }

  private unavailable(thrown: unknown): TesseraError {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const code = reason.startsWith('OOM') ? 'STORE_FULL' : 'STORE_UNAVAILABLE';
    const message = `Redis at ${this.options.address}: ${reason}`;
    return new TesseraError(code, message, { cause: thrown });
  }
}

function withinMs<T>(budgetMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${budgetMs} ms`)), budgetMs);
  });
  return Promise.race([work, expiry]).finally(() => clearTimeout(timer));
}

/** Not connected yet. The client is loaded only where behaviours are in Redis. */
async function connectionTo({
  address,
  security = {},
}: RedisBehaviourOptions): Promise<Redis | Cluster> {
  const nodes = address.split(',').map(parseNode);
  const [only] = nodes;
  const { Cluster, Redis } = await import('ioredis');
  const options: RedisOptions = {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...security,
  };
  if (nodes.length === 1 && only !== undefined) return new Redis({ ...only, ...options });
  return new Cluster(nodes, { lazyConnect: true, redisOptions: options });
}

function parseNode(text: string): { host: string; port: number } {
  const match = /^\s*\[?([^\]\s]+?)\]?:(\d{1,5})\s*$/.exec(text);
  if (match?.[1] !== undefined) return { host: match[1], port: Number(match[2]) };
  const message = `behaviours.redis: expected HOST:PORT[,HOST:PORT...], got '${text}'`;
  throw new TesseraError('CONFIG_INVALID', message, { field: 'behaviours.redis' });
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, i) => list.slice(i * size, (i + 1) * size));
}
