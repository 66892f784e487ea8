import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Kafka } from 'kafkajs';

const HASH_DIGITS = 8;

/**
 * A topic of which every process takes every record: changes of the catalogue, announcements of
 * adapters. The group is that of the store which keeps what the records did.
 */
export interface Broadcast {
  /** Folder of the store. */
  readonly folder: string;
  /** Whether the store holds anything. */
  readonly isKept: boolean;
}

/**
 * Name of the consumer group of a topic. Requests and behaviours are shared out between the
 * processes of one `groupId`; of a broadcast every store has a group of its own, so that none sees
 * only a part. Two processes on one host differ by their folders.
 */
export function groupOf(
  topic: string,
  { groupId, node }: { readonly groupId: string; readonly node: string },
  broadcast: Broadcast | undefined,
): string {
  const shared = `${groupId}.${topic}`;
  if (broadcast === undefined) return shared;
  const place = createHash('sha256').update(resolve(broadcast.folder)).digest('hex');
  return `${shared}.${node}.${place.slice(0, HASH_DIGITS)}`;
}

/**
 * Lets the group of a store that holds something go on where the group stood that all processes
 * shared before there were groups of their own; a store that holds nothing begins with the oldest
 * record. Does nothing where the own group has taken records.
 */
export async function goOnFrom(
  kafka: Kafka,
  topic: string,
  groups: { readonly shared: string; readonly own: string },
): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const [own] = await admin.fetchOffsets({ groupId: groups.own, topics: [topic] });
    const isTaken = (partition: { readonly offset: string }) => Number(partition.offset) >= 0;
    if (own?.partitions.some(isTaken)) return;
    const [shared] = await admin.fetchOffsets({ groupId: groups.shared, topics: [topic] });
    const partitions = (shared?.partitions ?? [])
      .filter(isTaken)
      .map(({ partition, offset }) => ({ partition, offset }));
    if (partitions.length === 0) return;
    await admin.setOffsets({ groupId: groups.own, topic, partitions });
  } finally {
    await admin.disconnect();
  }
}
