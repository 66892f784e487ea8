import type { Kafka } from 'kafkajs';

export interface TopicNeed {
  /** Partitions of each topic that is missing. */
  readonly createPartitions: number;
}

/** Rejects as kafkajs does where no broker answers, or none makes what is missing. */
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
    // Another consumer may make them meanwhile: false then, and they are there all the same.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({ topic, numPartitions: createPartitions })),
    });
  } finally {
    await admin.disconnect();
  }
}
