import { TesseraError } from '@tessera/errors';
import { CompressionTypes, type Kafka, type Message, type Producer } from 'kafkajs';
import { deadLetter, deadLetterTopic } from './dead-letters.js';
import type { TopicRecord } from './topic-record.js';

/** Records on their way to a broker at most; further ones are refused. */
export const PENDING_RECORDS_MAX = 10_000;

/** Writes records that every replica has when the promise resolves. */
export class RecordProducer {
  private readonly producer: Producer;
  private pending = 0;
  private connected: Promise<void> | undefined;

  constructor(kafka: Kafka) {
    this.producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: false });
  }

  /** Rejects with BROKER_UNAVAILABLE: not written, or not known to be. */
  async send(topic: string, messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    if (this.pending + messages.length > PENDING_RECORDS_MAX) {
      const message =
        `kafka: ${this.pending} records wait for the broker, ` +
        `expected at most ${PENDING_RECORDS_MAX}`;
      throw new TesseraError('BROKER_UNAVAILABLE', message);
    }
    this.pending += messages.length;
    try {
      await this.connect();
      await this.producer.send({
        topic,
        messages: [...messages],
        acks: -1,
        compression: CompressionTypes.None,
      });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TesseraError('BROKER_UNAVAILABLE', `kafka: ${topic}: ${reason}`, { cause });
    } finally {
      this.pending -= messages.length;
    }
  }

  /** Puts records that can never be served where they can be looked at and replayed. */
  async bury(dead: readonly { record: TopicRecord; error: TesseraError }[]): Promise<void> {
    const byTopic = new Map<string, Message[]>();
    for (const { record, error } of dead) {
      const topic = deadLetterTopic(record.topic);
      const letters = byTopic.get(topic) ?? [];
      letters.push(deadLetter(record, error));
      byTopic.set(topic, letters);
    }
    for (const [topic, letters] of byTopic) await this.send(topic, letters);
  }

  async close(): Promise<void> {
    await this.producer.disconnect();
  }

  private async connect(): Promise<void> {
    this.connected ??= this.producer.connect();
    try {
      await this.connected;
    } catch (error) {
      this.connected = undefined;
      throw error;
    }
  }
}
