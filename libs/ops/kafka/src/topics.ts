import { TesseraError } from '@tessera/errors';
import type { Kafka } from 'kafkajs';

export interface TopicNeed {
  /** Make what is missing, with this many partitions; 0: never. */
  readonly createPartitions: number;
}

/**
 * Rejects with CONFIG_INVALID naming the topics that are missing (and may not be made), or with
 * what kafkajs rejects with when no broker answers.
 */
export async function ensureTopics(
  kafka: Kafka,
  topics: readonly string[],
  { createPartitions }: TopicNeed,
): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const present = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !present.has(topic));
    if (missing.length === 0) return;
    if (createPartitions === 0) {
      const message = `kafka: expected the topics ${missing.join(', ')}, which the broker has not`;
      throw new TesseraError('CONFIG_INVALID', message, { field: 'kafka' });
    }
    // Another consumer may make them meanwhile: false then, and they are there all the same.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({ topic, numPartitions: createPartitions })),
    });
  } finally {
    await admin.disconnect();
  }
}
