import { randomUUID } from 'node:crypto';
import { protoSchema, recallEventsPackage, type WireRecallAnswered } from '@tessera/contracts';
import { MessageCodec } from '@tessera/kafka';
import { until } from '@tessera/testing';
import { type Consumer, Kafka, logLevel, type Message, type Producer } from 'kafkajs';

const RESPONSES = 'recall.responses';
const DEAD = ['recall.requests.dead', 'behaviours.dead'];

export interface TimedAnswer extends WireRecallAnswered {
  readonly key: string;
  /** When it was written, milliseconds since 1970. */
  readonly timeMs: number;
}

/** The other end of the topics, which outlives the broker's deaths. */
export class Topics {
  /** By correlation ID, in the order of the topic. */
  readonly answers = new Map<string, TimedAnswer[]>();
  /** Reasons of records that were buried, by their key. */
  readonly dead = new Map<string, string[]>();
  private readonly seen = new Set<string>();
  private readonly codec = new MessageCodec<WireRecallAnswered>(
    protoSchema,
    `${recallEventsPackage}.RecallAnswered`,
  );
  private readonly kafka: Kafka;
  private readonly producer: Producer;
  private readonly consumer: Consumer;

  constructor(broker: string) {
    this.kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
    this.producer = this.kafka.producer({ retry: { retries: 1 } });
    this.consumer = this.kafka.consumer({
      groupId: randomUUID(),
      maxWaitTimeInMs: 20,
      retry: { restartOnFailure: async () => true },
    });
  }

  async open(): Promise<void> {
    await this.producer.connect();
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [RESPONSES, ...DEAD], fromBeginning: true });
    await this.consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        // The same record is read again where the broker died before its offset was kept.
        const place = `${topic}/${partition}/${message.offset}`;
        if (this.seen.has(place)) return;
        this.seen.add(place);
        const { key, value, timestamp, headers = {} } = message;
        if (topic === RESPONSES) {
          const timeMs = Number(timestamp);
          const answer = { ...this.codec.decode(value), key: String(key), timeMs };
          note(this.answers, String(headers['tessera-correlation-id']), answer);
        } else {
          note(this.dead, String(key), String(headers['tessera-reason']));
        }
      },
    });
  }

  /** Until the broker has them: it may then have them more than once. */
  async send(topic: string, messages: Message[]): Promise<void> {
    await until(`a broker that takes records of ${topic}`, async () => {
      try {
        await this.producer.send({ topic, messages });
        return true;
      } catch {
        await this.producer.connect().catch(() => undefined);
        return false;
      }
    });
  }

  /** Records of a topic that its group has not committed. */
  async lag(topic: string): Promise<number> {
    const admin = this.kafka.admin();
    await admin.connect();
    try {
      const groupId = `tessera.${topic}`;
      const [taken] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.reduce((sum, { partition, low, high }) => {
        const at = taken?.partitions.find((one) => one.partition === partition)?.offset ?? '-1';
        return sum + Number(high) - Math.max(Number(at), Number(low));
      }, 0);
    } finally {
      await admin.disconnect();
    }
  }

  async close(): Promise<void> {
    await this.producer.disconnect();
    await this.consumer.disconnect();
  }
}

function note<T>(lists: Map<string, T[]>, name: string, one: T): void {
  lists.set(name, [...(lists.get(name) ?? []), one]);
}
