import type { StoreReach } from '@tessera/breaker';
import { positionOf } from '@tessera/contracts';
import type { RedisAddress } from '@tessera/redis';
import type { BehaviourEvent, StoredBehaviour } from '../domain/behaviour-event.js';
import { type AppendOutcome, BehaviourLog } from '../domain/behaviour-log.js';
import { FUTURE_MS_MAX } from '../domain/plausible-time.js';
import type { Retention } from '../domain/retention.js';
import { byTimeAndArrival, firstArrival, payloadOf, storedBehaviours } from './event-payload.js';
import { RedisConnection } from './redis-connection.js';

const APPEND_OUTCOMES: readonly AppendOutcome[] = ['added', 'duplicate', 'outside'];
/** Events of one script call: a longer one would keep other clients waiting. */
const EVENTS_PER_CALL_MAX = 500;
const SCAN_COUNT = 500;
/** Time limit of a scan through all keys, which nobody waits for. */
const SCAN_TIMEOUT_MS = 6000;

export interface RedisBehaviourOptions extends RedisAddress {
  /** Put before every key. */
  readonly keyPrefix: string;
  readonly retention: Retention;
  /** Milliseconds since 1970; of a clock that is not to be trusted the earliest that it may be. */
  readonly nowMs: () => number;
  /** The latest; left out: `nowMs`. */
  readonly latestMs?: (() => number) | undefined;
}

/** A brace in the ID would end the hash tag, which puts a user's keys into one slot. */
const tagged = (userId: string) => userId.replace(/[%{}]/g, (char) => encodeURIComponent(char));

/** Behaviours in Redis or a Redis cluster; all keys of a user lie in one slot. */
export class RedisBehaviourLog extends BehaviourLog {
  readonly userCount = null;

  private constructor(
    private readonly redis: RedisConnection,
    private readonly options: RedisBehaviourOptions,
  ) {
    super();
  }

  /**
   * Opens also while the address does not answer. Rejects with CONFIG_INVALID for a bad one.
   */
  static async open(options: RedisBehaviourOptions): Promise<RedisBehaviourLog> {
    return new RedisBehaviourLog(await RedisConnection.open(options), options);
  }

  override get retention(): Retention {
    return this.options.retention;
  }

  override reach(): StoreReach {
    return this.redis.reach();
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
        const first = String(firstArrival(this.options.nowMs()));
        const replies = await this.redis.write((redis) =>
          redis.tesseraAppend(keys.length, ...keys, ...this.windowArgs(), first, ...args),
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
    const { retention, nowMs } = this.options;
    const keys = this.keysOf(userId).slice(0, 2 + retention.windows.length);
    const oldest = retention.oldestMs(nowMs()).map(String);
    const found = await this.redis.read((redis) =>
      redis.tesseraHistory(keys.length, ...keys, String(limit), ...oldest),
    );
    if (found === null) return null;
    const behaviours = Array.from({ length: found.length / 4 }, (_, i) => ({
      eventId: found[4 * i] as string,
      timeMs: Number(found[4 * i + 1]),
      arrival: Number(found[4 * i + 2]),
      payload: found[4 * i + 3] as string,
    }));
    behaviours.sort(byTimeAndArrival);
    return storedBehaviours(limit > 0 ? behaviours.slice(-limit) : []);
  }

  async profile(userId: string): Promise<Readonly<Record<string, string>> | null> {
    const record = this.recordKey(userId);
    const [known, profile] = await this.redis.read((redis) =>
      redis.hmget(record, 'known', 'profile'),
    );
    if (known === null) return null;
    return JSON.parse(profile ?? '{}');
  }

  async putProfile(userId: string, profile: Readonly<Record<string, string>>): Promise<void> {
    const fields = { known: '1', profile: JSON.stringify(profile) };
    await this.redis.write((redis) => redis.hset(this.recordKey(userId), fields));
  }

  async erase(userId: string, untilMs: number, mark = ''): Promise<boolean> {
    const { log = '', offset = 0 } = positionOf(mark) ?? {};
    const keys = this.keysOf(userId);
    const { retention, nowMs } = this.options;
    const oldest = retention.oldestMs(nowMs()).map(String);
    const known = await this.redis.write((redis) =>
      redis.tesseraErase(
        keys.length,
        ...keys,
        ...[String(untilMs), ...this.clockArgs(), ...oldest, log, String(offset)],
      ),
    );
    return known === 1;
  }

  async userIds(limit: number, prefix = ''): Promise<readonly string[]> {
    const found: string[] = [];
    const begin = tagged(prefix).replace(/[*?[\]\\]/g, '\\$&');
    const match = `${this.options.keyPrefix}{${begin}*}:r`;
    const scan = <T>(command: () => Promise<T>) => this.redis.read(command, SCAN_TIMEOUT_MS);
    await this.redis.eachServer(async (node) => {
      let cursor = '0';
      do {
        const [next, keys] = await scan(() =>
          node.scan(cursor, 'MATCH', match, 'COUNT', SCAN_COUNT),
        );
        const known = await Promise.all(keys.map((key) => scan(() => node.hexists(key, 'known'))));
        found.push(...keys.filter((_, i) => known[i] === 1).map((key) => this.userOf(key)));
        cursor = next;
      } while (cursor !== '0' && found.length < limit);
    }, SCAN_TIMEOUT_MS);
    return found.sort().slice(0, limit);
  }

  async close(): Promise<void> {
    this.redis.close();
  }

  private eventArgs(event: BehaviourEvent): string[] {
    const window = this.options.retention.windowOf(event.action) + 1;
    return [event.eventId, String(window), String(event.timeMs), payloadOf(event)];
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
    const { nowMs, latestMs = nowMs } = this.options;
    return [String(nowMs()), String(latestMs() + FUTURE_MS_MAX)];
  }

  private recordKey(userId: string): string {
    return `${this.options.keyPrefix}{${tagged(userId)}}:r`;
  }

  private userOf(recordKey: string): string {
    return decodeURIComponent(recordKey.slice(this.options.keyPrefix.length + 1, -'}:r'.length));
  }

  private keysOf(userId: string): string[] {
    const stem = this.recordKey(userId).slice(0, -1);
    const { windows } = this.options.retention;
    const ofWindows = (letter: string) => windows.map((_, index) => `${stem}${letter}${index}`);
    return [`${stem}r`, `${stem}e`, ...ofWindows('w'), ...ofWindows('c')];
  }
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, i) => list.slice(i * size, (i + 1) * size));
}
