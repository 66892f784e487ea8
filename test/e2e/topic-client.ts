import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { until } from '@tessera/testing';
import { Kafka, logLevel, type Message } from 'kafkajs';
import protobuf from 'protobufjs';

type Plain = Record<string, unknown>;

/** Messages by the proto files themselves, independent of the generated code. */
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join(repositoryRoot, 'proto', target);
root.loadSync([
  'tessera/recall/events/v1/recall_event.proto',
  'tessera/behaviour/events/v1/behaviour_event.proto',
  'tessera/catalogue/events/v1/catalogue_event.proto',
]);
const REQUESTED = root.lookupType('tessera.recall.events.v1.RecallRequested');
const ANSWERED = root.lookupType('tessera.recall.events.v1.RecallAnswered');
const AUDITED = root.lookupType('tessera.recall.events.v1.RecallAudited');
const CHANGED = root.lookupType('tessera.catalogue.events.v1.CatalogueChanged');
const BEHAVIOUR = root.lookupType('tessera.behaviour.events.v1.BehaviourEvent');

export interface Answered {
  readonly key: string;
  /** When it was written, milliseconds since 1970. */
  readonly timeMs: number;
  readonly response?: Plain & {
    readonly items: readonly (Plain & { itemId: string; score: number })[];
  };
  readonly refusal?: {
    readonly code: string;
    readonly message: string;
    readonly field: string;
    readonly retryable: boolean;
  };
}

interface Dead {
  readonly topic: string;
  readonly key: string;
  readonly reason: string;
  readonly code: string;
}

export const encodeRequest = (message: Plain): Buffer =>
  Buffer.from(REQUESTED.encode(REQUESTED.fromObject(message)).finish());

export const encodeBehaviour = (behaviour: Plain): Buffer =>
  Buffer.from(BEHAVIOUR.encode(BEHAVIOUR.fromObject({ behaviour })).finish());

export const encodeChanges = (changes: readonly Plain[], catalogue = ''): Buffer =>
  Buffer.from(CHANGED.encode(CHANGED.fromObject({ changes, catalogue })).finish());

/**
 * An ad server on topics: asks, and waits for what bears its correlation ID. It outlives the death
 * of its broker.
 */
export class TopicClient {
  /** Answers by correlation ID, in the order of their arrival. */
  readonly answers = new Map<string, Answered[]>();
  readonly dead: Dead[] = [];
  readonly audits: Plain[] = [];
  private readonly seen = new Set<string>();
  private readonly kafka: Kafka;
  private readonly producer;
  private readonly consumer;

  constructor(address: string) {
    this.kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING });
    this.producer = this.kafka.producer({ retry: { retries: 1 } });
    this.consumer = this.kafka.consumer({
      groupId: randomUUID(),
      maxWaitTimeInMs: 20,
      retry: { restartOnFailure: async () => true },
    });
  }

  /** The topics are there: the service made them. */
  async open(): Promise<void> {
    await this.producer.connect();
    await this.consumer.connect();
    const topics = [
      'recall.responses',
      'recall.audits',
      'recall.requests.dead',
      'behaviours.dead',
    ].concat('catalogue.changes.dead');
    await this.consumer.subscribe({ topics, fromBeginning: true });
    await this.consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        // A record is read again where the broker died before its offset was kept.
        const place = `${topic}/${partition}/${message.offset}`;
        if (this.seen.has(place)) return;
        this.seen.add(place);
        const { key, value, timestamp, headers = {} } = message;
        if (topic === 'recall.audits') {
          const audited = AUDITED.decode(value as Buffer);
          this.audits.push(AUDITED.toObject(audited, { defaults: true, longs: Number }));
          return;
        }
        if (topic !== 'recall.responses') {
          const reason = String(headers['tessera-reason']);
          const code = String(headers['tessera-code']);
          this.dead.push({ topic, key: String(key), reason, code });
          return;
        }
        const id = String(headers['tessera-correlation-id']);
        const answered = ANSWERED.toObject(ANSWERED.decode(value as Buffer), { defaults: true });
        const list = this.answers.get(id) ?? [];
        list.push({ ...answered, key: String(key), timeMs: Number(timestamp) } as Answered);
        this.answers.set(id, list);
      },
    });
  }

  async send(topic: string, message: Message): Promise<void> {
    await this.sendAll(topic, [message]);
  }

  /** Until the broker has them: it may then have them more than once. */
  async sendAll(topic: string, messages: Message[]): Promise<void> {
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

  /** Asks for a recall; gives its correlation ID. */
  async ask(request: Plain, over: Partial<Message> & { deadlineTimeMs?: number } = {}) {
    const id = randomUUID();
    const { deadlineTimeMs, ...message } = over;
    const value = encodeRequest({
      request,
      ...(deadlineTimeMs === undefined ? {} : { deadlineTimeMs }),
    });
    const headers = { 'tessera-correlation-id': id, ...over.headers };
    const key = String(request.userId ?? '');
    await this.send('recall.requests', { key, value, ...message, headers });
    return id;
  }

  async close(): Promise<void> {
    await this.producer.disconnect();
    await this.consumer.disconnect();
  }
}
