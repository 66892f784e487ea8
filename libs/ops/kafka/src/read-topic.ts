import { TesseraError } from '@tessera/errors';
import type { Kafka } from 'kafkajs';
import { recordOf, type TopicRecord } from './topic-record.js';

/**
 * Gives every record that a topic holds now and the group has not taken yet to `take`, one after
 * another, and commits each when `take` has resolved. Resolves with their number at the end that
 * the topic had when reading began; rejects with what `take` rejects with, the record not
 * committed, and with BROKER_UNAVAILABLE.
 */
export async function readTopic(
  kafka: Kafka,
  topic: string,
  groupId: string,
  take: Take,
): Promise<number> {
  return readToEnd(kafka, topic, groupId, take).catch((thrown: Error) => {
    if (!thrown.name.startsWith('KafkaJS')) throw thrown;
    const message = `kafka: ${topic}: ${thrown.message}`;
    throw new TesseraError('BROKER_UNAVAILABLE', message, { cause: thrown });
  });
}

type Take = (record: TopicRecord) => Promise<void>;

async function readToEnd(
  kafka: Kafka,
  topic: string,
  groupId: string,
  take: Take,
): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  const asked = [
    admin.fetchTopicOffsets(topic),
    admin.fetchOffsets({ groupId, topics: [topic] }),
  ] as const;
  const [ends, [taken]] = await Promise.all(asked).finally(() => admin.disconnect());
  const startOf = (partition: number, low: string) => {
    const offset = taken?.partitions.find((one) => one.partition === partition)?.offset ?? '-1';
    return BigInt(offset) < 0n ? BigInt(low) : BigInt(offset);
  };
  const left = new Map(
    ends
      .filter(({ partition, low, high }) => startOf(partition, low) < BigInt(high))
      .map(({ partition, high }) => [partition, BigInt(high)]),
  );
  if (left.size === 0) return 0;
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let count = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      const run = consumer.run({
        autoCommit: false,
        eachMessage: async ({ partition, message }) => {
          const end = left.get(partition);
          if (end === undefined || BigInt(message.offset) >= end) return;
          await take(recordOf(topic, partition, message)).catch((error: unknown) => {
            reject(error);
            throw error;
          });
          count += 1;
          const next = BigInt(message.offset) + 1n;
          await consumer.commitOffsets([{ topic, partition, offset: next.toString() }]);
          if (next >= end) left.delete(partition);
          if (left.size === 0) resolve();
        },
      });
      run.catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return count;
}
