import { TesseraError } from '@tessera/errors';
import type { RedisAddress } from '@tessera/redis';
import type { Log } from '@tessera/telemetry';
import { withinMs } from '@tessera/turns';
import type { Redis } from 'ioredis';
import {
  type ClusterLog,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type SeenPosition,
} from '../domain/cluster-log.js';
import { inYields, YIELD_BYTES_MAX, YIELD_ENTRIES_MAX } from '../domain/log-yields.js';
import { REDIS_FIELD, type RedisClient, RedisLink } from './redis-link.js';

const DIGESTS_KEPT = 4096;
/** An idle reader asks so often, so that it can say that nothing has come. */
const BLOCK_MS = 800;
/** Of a dead connection: an answer that comes so much later than it had to. */
const GRACE_MS = 2000;
/** Of the largest entries so many come to a yield. */
const COUNT_MIN = 8;

export interface RedisLogOptions extends RedisAddress {
  /** Several logs of one server differ by it. */
  readonly name: string;
}

/**
 * A log in a stream of Redis 7 or Valkey. All keys are in one cluster slot: `{NAME}:log` (stream;
 * entry N has the ID N-0), `{NAME}:log:identity`, `:nodes` and `:digests` (hashes).
 */
export class RedisLog implements ClusterLog {
  private readonly keys: readonly [string, string, string, string];
  private readonly closing = new AbortController();

  private constructor(
    readonly place: string,
    private readonly link: RedisLink,
    name: string,
  ) {
    const stream = `{${name}}:log`;
    this.keys = [stream, `${stream}:identity`, `${stream}:nodes`, `${stream}:digests`];
  }

  /**
   * Opens also while the server is away. Rejects with CONFIG_INVALID for a bad address or name, and
   * for a password that the server refuses.
   */
  static async open({ name, ...address }: RedisLogOptions, nodeLog?: Log): Promise<RedisLog> {
    if (!/^[\w.:-]+$/.test(name)) {
      const message = `${REDIS_FIELD}: expected a name of letters, digits and _.:-, got '${name}'`;
      throw new TesseraError('CONFIG_INVALID', message, { field: REDIS_FIELD });
    }
    const place = `Redis at ${address.address}, ${name}:log`;
    return new RedisLog(place, await RedisLink.open(address, place, nodeLog), name);
  }

  async bounds(): Promise<LogBounds> {
    const { keys } = this;
    const [identity, first, end] = await this.link.call((redis) => redis.tesseraLogBounds(...keys));
    return { identity, first: Number(first), end: Number(end) };
  }

  async begin(identity: string): Promise<string> {
    const [, key] = this.keys;
    await this.link.call((redis) => redis.setnx(key, identity));
    return (await this.bounds()).identity;
  }

  async append(bytes: Uint8Array): Promise<number> {
    const words = [...this.keys, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)];
    return Number(await this.link.call((redis) => redis.tesseraLogAppend(...words)));
  }

  /** Also throws LOG_DIFFERENT where the log has become shorter than what it gave. */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<readonly LogEntry[]> {
    const ended = AbortSignal.any([signal, this.closing.signal]);
    let reader: RedisClient | undefined;
    const leave = () => reader?.disconnect();
    ended.addEventListener('abort', leave, { once: true });
    let next = Math.max(from, NO_OFFSET + 1);
    let count = COUNT_MIN;
    try {
      if (await this.isAtEnd(next)) yield [];
      reader = await this.link.reader();
      while (!ended.aborted) {
        const entries = await this.take(reader, next, count);
        if (entries.length === 0 && (await this.isAtEnd(next))) yield [];
        for (const part of inYields(entries)) {
          this.checkNext(next, part);
          next += part.length;
          yield part;
        }
        count = countFor(entries, count);
      }
    } catch (thrown) {
      if (!ended.aborted) throw thrown;
    } finally {
      ended.removeEventListener('abort', leave);
      leave();
    }
  }

  async trim(before: number): Promise<void> {
    const [stream] = this.keys;
    await this.link.call((redis) => redis.xtrim(stream, 'MINID', `${before}-0`));
  }

  async say({ node, process, offset, digest }: NodePosition): Promise<void> {
    const words = [...this.keys, node, process, String(offset), digest];
    await this.link.call((redis) => redis.tesseraLogSay(...words));
  }

  async positions(): Promise<readonly SeenPosition[]> {
    const { keys } = this;
    const [now, ...said] = await this.link.call((redis) => redis.tesseraLogPositions(...keys));
    return Array.from({ length: said.length / 2 }, (_, index) => {
      const [node = '', text = ''] = said.slice(2 * index);
      const { process, offset, digest, atMs } = JSON.parse(text);
      const ageMs = Math.max(0, Number(now) - Number(atMs));
      return { node, process, offset: Number(offset), digest, ageMs };
    });
  }

  async leave({ node, process }: NodePosition): Promise<void> {
    const words = [...this.keys, node, process];
    await this.link.call((redis) => redis.tesseraLogLeave(...words));
  }

  digestAt(offset: number, digest: string): Promise<string> {
    const words = [...this.keys, String(offset), digest, String(DIGESTS_KEPT)];
    return this.link.call((redis) => redis.tesseraLogDigest(...words));
  }

  /** Readers end. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.link.close();
  }

  /** Entries from an offset on; none where nothing comes for a while. */
  private async take(reader: RedisClient, next: number, count: number): Promise<LogEntry[]> {
    const [stream] = this.keys;
    const after = `${next - 1}-0`;
    // Of the union of both kinds of client TypeScript resolves no overload.
    const asked = (reader as Redis).xreadBuffer(
      ...(['COUNT', count, 'BLOCK', BLOCK_MS, 'STREAMS', stream, after] as const),
    );
    try {
      const [answer] = (await withinMs(BLOCK_MS + GRACE_MS, asked)) ?? [];
      return (answer?.[1] ?? []).map(([id, fields]) => entryOf(id, fields));
    } catch (thrown) {
      throw this.link.fault(thrown);
    }
  }

  private async isAtEnd(next: number): Promise<boolean> {
    const { first, end } = await this.bounds();
    if (first > next) throw this.trimmed(next, first);
    if (end >= next - 1) return end < next;
    const message = `${this.place}: expected entries up to ${next - 1}, got them up to ${end}`;
    throw new TesseraError('LOG_DIFFERENT', message);
  }

  /** Offsets rise by one: where one is missing it was trimmed. */
  private checkNext(next: number, entries: readonly LogEntry[]): void {
    const wrong = entries.find(({ offset }, index) => offset !== next + index);
    if (wrong !== undefined) throw this.trimmed(next, wrong.offset);
  }

  private trimmed(next: number, got: number): TesseraError {
    const message = `${this.place}: expected entries from ${next} on, got them from ${got} on`;
    return new TesseraError('LOG_TRIMMED', message);
  }
}

function entryOf(id: Buffer, fields: readonly Buffer[]): LogEntry {
  const [, atMs, , bytes = Buffer.of()] = fields;
  return { offset: Number.parseInt(id.toString(), 10), atMs: Number(atMs), bytes };
}

/** How many entries of the size of the last ones come to a yield. */
function countFor(entries: readonly LogEntry[], before: number): number {
  if (entries.length === 0) return before;
  const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const fitting = Math.floor((YIELD_BYTES_MAX * entries.length) / (total + 1));
  return Math.min(YIELD_ENTRIES_MAX, 2 * before, Math.max(COUNT_MIN, fitting));
}
