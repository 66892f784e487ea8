import { randomUUID } from 'node:crypto';
import type { KafkaSecurity } from '@tessera/config';
import {
  behaviourEventsPackage,
  catalogueEventsPackage,
  protoSchema,
  recallEventsPackage,
  type WireBehaviour,
  type WireBehaviourEvent,
  type WireCatalogueChanged,
  type WireChange,
  type WireRecallAnswered,
  type WireRecallRequest,
  type WireRecallRequested,
  type WireRecallResponse,
} from '@tessera/contracts';
import { isErrorCode, TesseraError } from '@tessera/errors';
import { loadKafka, MessageCodec, RECORD_HEADERS, securedBy } from '@tessera/kafka';
import type { Consumer, Kafka, KafkaMessage, Message, Producer } from 'kafkajs';
import type { Asked } from './service-client.js';

const PAYLOAD_VERSION = '1';
const FETCH_WAIT_MS = 20;
/** The service refuses late requests itself; its refusal has this long to arrive. */
const REFUSAL_GRACE_MS = 2000;

export interface TopicClientOptions {
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
  /** Left out: neither TLS nor SASL. */
  readonly security?: KafkaSecurity;
  readonly requestsTopic: string;
  readonly responsesTopic: string;
  readonly behavioursTopic: string;
  readonly changesTopic: string;
}

export const DEFAULT_TOPICS = {
  requestsTopic: 'recall.requests',
  responsesTopic: 'recall.responses',
  behavioursTopic: 'behaviours',
  changesTopic: 'catalogue.changes',
} as const;

interface Waiting {
  readonly answer: (answered: WireRecallAnswered) => void;
  readonly fail: (error: TesseraError) => void;
}

/**
 * Tessera over Kafka: asks on one topic and waits on the other. Every client reads all responses,
 * as a group of its own, and takes those that bear its correlation IDs.
 */
export class TopicClient {
  private readonly producer: Producer;
  private readonly consumer: Consumer;
  private readonly waiting = new Map<string, Waiting>();
  private readonly requests = codec<WireRecallRequested>(recallEventsPackage, 'RecallRequested');
  private readonly answers = codec<WireRecallAnswered>(recallEventsPackage, 'RecallAnswered');
  private readonly events = codec<WireBehaviourEvent>(behaviourEventsPackage, 'BehaviourEvent');

  private readonly changes = codec<WireCatalogueChanged>(
    catalogueEventsPackage,
    'CatalogueChanged',
  );

  private constructor(
    kafka: Kafka,
    private readonly options: TopicClientOptions,
  ) {
    this.producer = kafka.producer({ allowAutoTopicCreation: false });
    this.consumer = kafka.consumer({
      groupId: `tessera-client-${randomUUID()}`,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
    });
  }

  /** Rejects when no broker answers or the topics are not there. */
  static async open(options: TopicClientOptions): Promise<TopicClient> {
    const { Kafka, logLevel } = await loadKafka();
    const { brokers, security } = options;
    const own = { brokers: [...brokers], ...securedBy(security) };
    const kafka = new Kafka({ ...own, logLevel: logLevel.NOTHING });
    const client = new TopicClient(kafka, options);
    await client.producer.connect();
    await client.consumer.connect();
    await client.consumer.subscribe({ topic: options.responsesTopic, fromBeginning: false });
    // Where the newest response lies is found out by the first fetch, not when the group is joined:
    // an answer that arrives in between would never be read.
    const fetched = new Promise((resolve) => {
      client.consumer.on(client.consumer.events.FETCH, resolve);
    });
    await client.consumer.run({ eachMessage: async ({ message }) => client.take(message) });
    await fetched;
    return client;
  }

  /** Rejects with the code of a refusal, or DEADLINE_EXCEEDED when none arrives in time. */
  async recall(request: Asked<WireRecallRequest>, deadlineMs: number): Promise<WireRecallResponse> {
    const id = randomUUID();
    const requested = { request, deadlineTimeMs: Date.now() + deadlineMs } as WireRecallRequested;
    const answered = this.answerTo(id, deadlineMs + REFUSAL_GRACE_MS);
    const message = {
      key: request.userId ?? '',
      value: this.requests.encode(requested),
      headers: {
        [RECORD_HEADERS.correlationId]: id,
        [RECORD_HEADERS.version]: PAYLOAD_VERSION,
      },
    };
    const { requestsTopic: topic } = this.options;
    const sent = this.producer.send({ topic, messages: [message] }).catch((thrown) => {
      this.waiting.get(id)?.fail(unavailable(thrown));
    });
    const [{ response, refusal }] = await Promise.all([answered, sent]);
    if (response !== undefined) return response;
    throw refusedBy(refusal);
  }

  /** Resolves when every replica has them. May be repeated: an event ID counts once. */
  async append(behaviours: readonly WireBehaviour[]): Promise<void> {
    const messages = behaviours.map((behaviour) => ({
      key: behaviour.userId,
      value: this.events.encode({ behaviour }),
      headers: { [RECORD_HEADERS.version]: PAYLOAD_VERSION },
    }));
    await this.send(this.options.behavioursTopic, messages);
  }

  /**
   * One message: its changes are applied all or none. Resolves when every replica has it. Messages
   * of one key stay in order: an item's changes need one key.
   */
  async change(key: string, changes: readonly WireChange[], catalogue = ''): Promise<void> {
    const value = this.changes.encode({ catalogue, changes: [...changes] });
    const headers = { [RECORD_HEADERS.version]: PAYLOAD_VERSION };
    await this.send(this.options.changesTopic, [{ key, value, headers }]);
  }

  async close(): Promise<void> {
    for (const { fail } of this.waiting.values()) {
      fail(new TesseraError('CANCELLED', 'the client was closed'));
    }
    await this.producer.disconnect();
    await this.consumer.disconnect();
  }

  private async send(topic: string, messages: Message[]): Promise<void> {
    try {
      await this.producer.send({ topic, messages, acks: -1 });
    } catch (thrown) {
      throw unavailable(thrown);
    }
  }

  private answerTo(id: string, waitMs: number): Promise<WireRecallAnswered> {
    return new Promise<WireRecallAnswered>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new TesseraError('DEADLINE_EXCEEDED', `no answer arrived in ${waitMs} ms`));
      }, waitMs);
      const settled = (act: () => void) => {
        clearTimeout(timer);
        act();
      };
      this.waiting.set(id, {
        answer: (answered) => settled(() => resolve(answered)),
        fail: (error) => settled(() => reject(error)),
      });
    }).finally(() => this.waiting.delete(id));
  }

  private take({ headers, value }: KafkaMessage): void {
    const waiting = this.waiting.get(String(headers?.[RECORD_HEADERS.correlationId]));
    if (waiting === undefined) return;
    try {
      waiting.answer(this.answers.decode(value));
    } catch (thrown) {
      waiting.fail(TesseraError.from(thrown));
    }
  }
}

function codec<Message extends object>(packageName: string, message: string) {
  return new MessageCodec<Message>(protoSchema, `${packageName}.${message}`);
}

function unavailable(thrown: unknown): TesseraError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new TesseraError('BROKER_UNAVAILABLE', `kafka: ${reason}`, { cause: thrown });
}

function refusedBy(refusal: WireRecallAnswered['refusal']): TesseraError {
  if (refusal === undefined) return new TesseraError('INTERNAL', 'the answer says nothing');
  const { code, message, field, retryAfterMs } = refusal;
  return new TesseraError(isErrorCode(code) ? code : 'INTERNAL', message, {
    field: field === '' ? undefined : field,
    retryAfterMs: retryAfterMs === 0 ? undefined : retryAfterMs,
  });
}
