/** The topic of behaviours on a real broker, as `python -m trainer follow --kafka` reads it. */

import { spawnSync } from 'node:child_process';
import { Kafka, logLevel, type Message, type Producer } from 'kafkajs';
import { encodeBehaviour } from '../e2e/topic-client.js';

const TOPIC = 'followed';
const USERS = 7;

/** Result of a process that reads. */
export interface TopicRead {
  readonly signal: NodeJS.Signals | null;
  /** Behaviours of each read. */
  readonly reads: readonly number[];
  /** Items in the store, in the order in which they came; empty of a process that was killed. */
  readonly items: readonly string[];
}

/** A topic of two partitions whose behaviours have the items 0, 1, 2, ... */
export class FollowedTopic {
  private readonly kafka: Kafka;
  private count = 0;

  private constructor(private readonly address: string) {
    this.kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING });
  }

  static async on(address: string): Promise<FollowedTopic> {
    const topic = new FollowedTopic(address);
    const admin = topic.kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: 2 }] });
    await admin.disconnect();
    return topic;
  }

  async write(count: number): Promise<void> {
    await this.produce(this.kafka.producer(), (producer) =>
      producer.send({ topic: TOPIC, messages: this.behaviours(count) }),
    );
  }

  /** Behaviours of a transaction, whose end takes an offset of each partition. */
  async writeTogether(count: number): Promise<void> {
    const producer = this.kafka.producer({ transactionalId: TOPIC, maxInFlightRequests: 1 });
    await this.produce(producer, async () => {
      const transaction = await producer.transaction();
      await transaction.send({ topic: TOPIC, messages: this.behaviours(count) });
      await transaction.commit();
    });
  }

  /** Reads all that there is with a process of its own, which `killed` ends in the middle. */
  read(python: string, folder: string, killed: readonly string[] = []): TopicRead {
    const words = ['test/clients/follow_topic.py', this.address, TOPIC, folder, ...killed];
    const env = { ...process.env, PYTHONPATH: [process.cwd(), process.env.PYTHONPATH].join(':') };
    const done = spawnSync(python, words, { encoding: 'utf8', env });
    if (done.status !== 0 && done.signal === null) throw new Error(done.stderr);
    const lines = done.stdout.trim().split('\n');
    const items = done.signal === null ? JSON.parse(lines.pop() ?? '[]') : [];
    return { signal: done.signal, reads: lines.map(Number), items };
  }

  private async produce(producer: Producer, send: (producer: Producer) => Promise<unknown>) {
    await producer.connect();
    await send(producer);
    await producer.disconnect();
  }

  private behaviours(count: number): Message[] {
    return Array.from({ length: count }, () => {
      const itemId = String(this.count);
      const userId = `u${this.count % USERS}`;
      this.count += 1;
      const behaviour = { userId, itemId, eventId: itemId, action: 'click', timeMs: Date.now() };
      return { key: userId, value: encodeBehaviour(behaviour) };
    });
  }
}
