import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import type { Log } from '@tessera/telemetry';
import type { Batch, Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { isObservable, lastValueFrom } from 'rxjs';
import { untilDone } from './backoff.js';
import { groupOf } from './consumer-groups.js';
import { deadLetterTopic } from './dead-letters.js';
import { METADATA_MS } from './kafka-client.js';
import { type DeadRecord, readRecords } from './read-records.js';
import type { RecordProducer } from './record-producer.js';
import { recordOf, type TopicRecord } from './topic-record.js';
import { ensureTopics, type TopicNeed } from './topics.js';
import { decoded } from './undecodable.js';

/** Records of one partition in the order of their offsets, handed over at once. */
export interface RecordBatch {
  readonly records: readonly TopicRecord[];
  /** Aborted when the server closes: what waits may give up, its offset is not committed then. */
  readonly signal: AbortSignal;
}

export interface BatchServerOptions extends TopicNeed {
  /** Topic of each pattern that handlers name. */
  readonly topics: Readonly<Record<string, string>>;
  /** ID of the groups; each topic has its own (`groupOf`). */
  readonly groupId: string;
  /** Name of this process. */
  readonly node: string;
  /** Folder of what the records of a topic change, where this process has them all. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Records handed over at once at most; left out: `RECORDS_AT_ONCE_MAX`. */
  readonly batchRecordsMax?: number;
  /** Partitions served at the same time. */
  readonly partitionsAtOnce: number;
  /** Topics that handlers write to. */
  readonly outputTopics: readonly string[];
  /** Every topic is served, for the first time. */
  readonly onServing: () => void;
}

/** Records of a partition handed over at once: a few forward passes. */
const RECORDS_AT_ONCE_MAX = 64;
/** Bytes that a broker hands over of one partition: the default of brokers for one record. */
const FETCH_BYTES_MAX = 1 << 20;
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 3000;
/** A consumer waits this long for more records at most: the latency of a lone one. */
const FETCH_WAIT_MS = 20;

/**
 * Nest's transport for topics: `@EventPattern(pattern)` handlers take a RecordBatch and resolve
 * when its effect has happened; only then is its offset committed. A handler that rejects is called
 * again with the same batch, later and later, until it resolves: its topic waits (that is the back
 * pressure), other topics go on, for each has a consumer of its own: one fetch of kafkajs waits for
 * the handlers of all that the fetch before it brought. Nest's own Kafka transport hands over one
 * record of a partition at a time and commits by the clock (ADR 0027).
 */
export class BatchServer extends Server implements CustomTransportStrategy {
  /** Topics that are not served now, and why. */
  private readonly away = new Map<string, string>();
  /** Records not served yet of each partition that this process has, by topic. */
  private readonly behind = new Map<string, Map<number, number>>();
  private readonly closing = new AbortController();
  private served: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kafka: Kafka,
    private readonly producer: Pick<RecordProducer, 'bury'>,
    private readonly options: BatchServerOptions,
    private readonly log: Log,
  ) {
    super();
  }

  /** Calls back at once; a broker that is away, now or later, is waited for. */
  listen(callback: () => void): void {
    const topics = [...this.handlers().keys()];
    for (const topic of topics) this.away.set(topic, 'not connected yet');
    let hasServed = false;
    const onJoined = (topic: string) => {
      this.away.delete(topic);
      if (this.away.size > 0 || hasServed) return;
      hasServed = true;
      this.options.onServing();
    };
    this.served = Promise.all(
      topics.map((topic) =>
        untilDone(
          () => this.serveUntilClosed(topic, () => onJoined(topic)),
          this.closing.signal,
          (error) => {
            this.away.set(topic, error instanceof Error ? error.message : String(error));
            this.log.warn({ err: error, topic }, 'kafka: not connected, trying again');
          },
        ),
      ),
    );
    callback();
  }

  /** True if all topics are served; why not where they are not. Tried again until they are. */
  reach(): { readonly state: 'ok' | 'down'; readonly reason: string } {
    const reasons = [...this.away].map(([topic, reason]) => `${topic}: ${reason}`);
    return { state: reasons.length === 0 ? 'ok' : 'down', reason: reasons.join('; ') };
  }

  /** Records left as of the last batch of each partition. */
  lag(): readonly { readonly topic: string; readonly records: number }[] {
    return [...this.handlers().keys()].map((topic) => {
      const partitions = [...(this.behind.get(topic)?.values() ?? [])];
      return { topic, records: partitions.reduce((sum, count) => sum + count, 0) };
    });
  }

  /** Lets batches under way finish, commits them and leaves the group. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.served;
  }

  on(): void {
    throw new Error('the batch server has no events of its own');
  }

  unwrap<T>(): T {
    return this.kafka as T;
  }

  /** Rejects when the consumer has crashed: a new one takes its place. */
  private async serveUntilClosed(topic: string, onJoined: () => void): Promise<void> {
    const { outputTopics, partitionsAtOnce } = this.options;
    const topics = [topic, deadLetterTopic(topic), ...outputTopics];
    await ensureTopics(this.kafka, topics, this.options);
    const consumer = await this.consumer(topic);
    const { signal } = this.closing;
    const ended = new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    });
    consumer.on(consumer.events.GROUP_JOIN, () => {
      // Partitions of before may be another process's now.
      this.behind.delete(topic);
      onJoined();
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: partitionsAtOnce,
        eachBatch: (payload) => this.serve(payload),
      });
      await ended;
    } finally {
      await consumer.disconnect().catch(() => undefined);
    }
  }

  private consumer(topic: string): Consumer {
    const { folders = {} } = this.options;
    return this.kafka.consumer({
      groupId: groupOf(topic, this.options, folders[topic]),
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxBytesPerPartition: FETCH_BYTES_MAX,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      metadataMaxAge: METADATA_MS,
      allowAutoTopicCreation: false,
      // Some failures kafkajs never restarts after; so none is left to it.
      retry: { retries: 2, restartOnFailure: async () => false },
    });
  }

  /** Handlers by topic; patterns without a topic belong to other transports. */
  private handlers(): ReadonlyMap<string, MessageHandler> {
    return new Map(
      [...this.messageHandlers].flatMap(([pattern, handler]) => {
        const topic = this.options.topics[pattern];
        return topic === undefined ? [] : [[topic, handler]];
      }),
    );
  }

  private async serve(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { topic, partition } = batch;
    const { batchRecordsMax: recordsMax = RECORDS_AT_ONCE_MAX } = this.options;
    const beat = setInterval(() => payload.heartbeat().catch(() => undefined), HEARTBEAT_MS);
    try {
      this.note(batch, Number(batch.messages[0]?.offset ?? batch.highWatermark));
      for (let at = 0; at < batch.messages.length; at += recordsMax) {
        if (payload.isStale() || this.closing.signal.aborted) return;
        const messages = batch.messages.slice(at, at + recordsMax);
        if (!(await this.handle(topic, partition, messages))) return;
        const last = messages.at(-1) as KafkaMessage;
        payload.resolveOffset(last.offset);
        const offset = (BigInt(last.offset) + 1n).toString();
        // The consumer's own commitOffsets() does nothing once stop() was called.
        await payload.commitOffsetsIfNecessary({
          topics: [{ topic, partitions: [{ partition, offset }] }],
        });
        this.note(batch, Number(offset));
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** @param next offset of the first record that is not served yet */
  private note({ topic, partition, highWatermark }: Batch, next: number): void {
    const partitions = this.behind.get(topic) ?? new Map<number, number>();
    this.behind.set(topic, partitions.set(partition, Math.max(0, Number(highWatermark) - next)));
  }

  /** False: the server closes and the batch has had no effect that counts. */
  private async handle(
    topic: string,
    partition: number,
    messages: readonly KafkaMessage[],
  ): Promise<boolean> {
    const handler = this.handlers().get(topic);
    if (handler === undefined) return true;
    const { signal } = this.closing;
    const taken = messages.map((message) => recordOf(topic, partition, message));
    const { contents: records, dead } = readRecords(taken, decoded);
    const batch: RecordBatch = { records, signal };
    const done = await untilDone(
      async () => {
        await this.bury(dead);
        if (records.length === 0) return true;
        const result = await handler(batch);
        if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
        return true;
      },
      signal,
      (error, attempt) => {
        const fields = { err: error, topic, partition, offset: taken[0]?.offset, attempt };
        this.log.warn(fields, 'kafka: a batch could not be served, trying again');
      },
    );
    return done === true;
  }
  private async bury(dead: readonly DeadRecord[]): Promise<void> {
    const [first] = dead;
    if (first === undefined) return;
    await this.producer.bury(dead);
    const { topic, partition, offset } = first.record;
    const fields = { err: first.error, topic, partition, offset, count: dead.length };
    this.log.error(fields, 'kafka: a batch could not be decompressed, its records are buried');
  }
}
