import { randomUUID } from 'node:crypto';
import { DEFAULT_TOPICS } from '@tessera/client';
import { protoSchema, recallEventsPackage, type WireRecallRequested } from '@tessera/contracts';
import { MessageCodec, RECORD_HEADERS } from '@tessera/kafka';
import { type Consumer, Kafka, logLevel, type Producer } from 'kafkajs';

const DEADLINE_MS = 60_000;
const FETCH_WAIT_MS = 20;

/**
 * A caller on topics that costs as little as it can: requests go out in batches and of the
 * answers only their number counts.
 */
export class TopicAsker {
  private readonly codec = new MessageCodec<WireRecallRequested>(
    protoSchema,
    `${recallEventsPackage}.RecallRequested`,
  );
  private asked = 0;
  private answered = 0;
  private onAnswers: () => void = () => undefined;

  private constructor(
    private readonly producer: Producer,
    private readonly consumer: Consumer,
    private readonly userOf: (at: number) => string,
  ) {}

  static async open(broker: string, userOf: (at: number) => string): Promise<TopicAsker> {
    const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ allowAutoTopicCreation: false });
    const consumer = kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: FETCH_WAIT_MS });
    const asker = new TopicAsker(producer, consumer, userOf);
    await Promise.all([producer.connect(), consumer.connect()]);
    await consumer.subscribe({ topic: DEFAULT_TOPICS.responsesTopic, fromBeginning: false });
    // The first fetch finds out where the newest response lies.
    const fetched = new Promise((resolve) => consumer.on(consumer.events.FETCH, resolve));
    await consumer.run({
      eachBatch: async ({ batch }) => {
        asker.answered += batch.messages.length;
        asker.onAnswers();
      },
    });
    await fetched;
    return asker;
  }

  /** `count` requests always under way; resolves with how many were answered. */
  async keepAsking(count: number, milliseconds: number): Promise<number> {
    const before = this.answered;
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const free = count - (this.asked - this.answered);
      if (free > 0) await this.ask(free);
      else await this.nextAnswers();
    }
    while (this.answered < this.asked) await this.nextAnswers();
    return this.answered - before;
  }

  async close(): Promise<void> {
    await Promise.all([this.producer.disconnect(), this.consumer.disconnect()]);
  }

  private nextAnswers(): Promise<void> {
    return new Promise((resolve) => {
      this.onAnswers = resolve;
    });
  }

  private async ask(count: number): Promise<void> {
    const deadlineTimeMs = Date.now() + DEADLINE_MS;
    const messages = Array.from({ length: count }, (_, i) => {
      const userId = this.userOf(this.asked + i);
      const requested = { request: { userId }, deadlineTimeMs } as WireRecallRequested;
      return {
        key: userId,
        value: this.codec.encode(requested),
        headers: { [RECORD_HEADERS.correlationId]: String(this.asked + i) },
      };
    });
    this.asked += count;
    await this.producer.send({ topic: DEFAULT_TOPICS.requestsTopic, messages });
  }
}
