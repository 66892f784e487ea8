import type { TopicRecord } from '@tessera/kafka';

type Position = Pick<TopicRecord, 'topic' | 'partition' | 'offset' | 'timestampMs'>;

/**
 * Records that this process has applied and that the broker may hand over again, because one of
 * their batch could not be served or their offset could not be committed. A batch is committed
 * before the next one of its partition is handed over, so that those before it are forgotten.
 */
export class AppliedRecords {
  /** Times of records by offset, for each partition. */
  private readonly partitions = new Map<string, Map<string, number>>();

  add(record: Position): void {
    const name = partitionOf(record);
    const known = this.partitions.get(name) ?? new Map<string, number>();
    this.partitions.set(name, known.set(record.offset, record.timestampMs));
  }

  /** True of a known record. Its time counts: a topic made anew begins with old offsets. */
  has(record: Position): boolean {
    return this.partitions.get(partitionOf(record))?.get(record.offset) === record.timestampMs;
  }

  /** Forgets what lies before the first record of a batch, all of one partition. */
  forgetBefore(first: Position): void {
    const known = this.partitions.get(partitionOf(first));
    for (const offset of known?.keys() ?? []) {
      if (BigInt(offset) < BigInt(first.offset)) known?.delete(offset);
    }
  }
}

const partitionOf = ({ topic, partition }: Position) => `${topic} ${partition}`;
