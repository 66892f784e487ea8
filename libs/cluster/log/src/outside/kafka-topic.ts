import { TesseraError } from '@tessera/errors';
import { loadKafka } from '@tessera/kafka';
import { withinMs } from '@tessera/turns';
import type { Admin, KafkaMessage } from 'kafkajs';
import { KAFKA_FIELD, type KafkaLink } from './kafka-link.js';
import { KafkaReader } from './kafka-reader.js';

/** An idle reader asks so often where the topic ends. */
const LOOK_EVERY_MS = 500;
/** Records are there and none comes for so long: the reader does not work. */
const STALLED_MS = 10_000;
const LEAVE_TIMEOUT_MS = 2000;
/** On more than one broker: what is acknowledged outlives each of them. */
const REPLICAS_MIN = 'min.insync.replicas';
const IN_SYNC_MIN = 2;
const REPLICAS = 3;

export interface TopicBounds {
  /** Of the oldest record that is there. */
  readonly low: number;
  /** Of the next record. */
  readonly high: number;
}

export interface TopicPart {
  /** Empty: nothing follows the given offset. */
  readonly records: readonly KafkaMessage[];
  /** Offset after all that was given. */
  readonly next: number;
}

/** A topic with one partition that is read from any offset and without a consumer's memory. */
export class KafkaTopic {
  private isThere = false;
  private readonly leaving = new Set<Promise<unknown>>();

  /**
   * @param options configuration of the topic where it has to be made; `isGapless`: no record but
   * the oldest ones is ever taken out
   */
  constructor(
    private readonly link: KafkaLink,
    readonly name: string,
    private readonly options: {
      readonly settings: Readonly<Record<string, string>>;
      readonly isGapless: boolean;
    },
  ) {}

  /** Makes the topic where it is missing. */
  async bounds(): Promise<TopicBounds> {
    await this.ensure();
    const [bounds] = await this.link.ask((admin) => admin.fetchTopicOffsets(this.name));
    return { low: Number(bounds?.low), high: Number(bounds?.high) };
  }

  async removeBefore(offset: number): Promise<void> {
    const partitions = [{ partition: 0, offset: String(offset) }];
    await this.link.ask(async (admin) => {
      // Without metadata of the topic the client knows no leader to ask.
      await admin.fetchTopicOffsets(this.name);
      await admin.deleteTopicRecords({ topic: this.name, partitions });
    });
  }

  /**
   * Records from an offset on, without an end. Throws LOG_TRIMMED where they are gone, and
   * STORE_UNAVAILABLE.
   */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<TopicPart> {
    let next = from;
    if ((await this.look(next)) === next) yield { records: [], next };
    const reader = new KafkaReader(this.link, this.name, () => next);
    const leave = () => this.leaveBehind(reader);
    signal.addEventListener('abort', leave, { once: true });
    let movedMs = performance.now();
    try {
      while (!signal.aborted) {
        const records = await reader.take(LOOK_EVERY_MS);
        if (signal.aborted) return;
        const fresh = records?.filter(({ offset }) => Number(offset) >= next) ?? [];
        if (fresh.length > 0) {
          this.checkFirst(next, fresh);
          next = Number(fresh.at(-1)?.offset) + 1;
          yield { records: fresh, next };
        } else {
          const end = await this.look(next);
          if (end !== next && performance.now() - movedMs < STALLED_MS) continue;
          // Those that are left out of a compacted topic may be its last ones.
          if (end < next || (end > next && this.options.isGapless))
            throw this.stalled(next, end, reader.crash);
          next = end;
          yield { records: [], next };
        }
        movedMs = performance.now();
      }
    } catch (thrown) {
      throw this.link.fault(thrown);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Waits for readers that leave, a while; their signals are aborted. */
  async close(): Promise<void> {
    await withinMs(LEAVE_TIMEOUT_MS, Promise.all(this.leaving)).catch(() => undefined);
  }

  /**
   * A reader leaves, and its group is taken away. The caller does not wait: a broker that is
   * away would hold it for long.
   */
  private leaveBehind(reader: KafkaReader): void {
    const gone = reader
      .leave()
      .then(() => this.link.ask((admin) => admin.deleteGroups([reader.group])))
      .catch(() => undefined)
      .finally(() => this.leaving.delete(gone));
    this.leaving.add(gone);
  }

  /** Where the topic ends. Throws LOG_TRIMMED. */
  private async look(next: number): Promise<number> {
    const { low, high } = await this.bounds();
    if (low > next && this.options.isGapless) throw this.trimmed(next, low);
    return high;
  }

  private async ensure(): Promise<void> {
    if (this.isThere) return;
    const topic = this.name;
    const configEntries = Object.entries(this.options.settings).map(([name, value]) => ({
      name,
      value,
    }));
    const { partitions, brokers, replicasMin } = await this.link.ask(async (admin) => {
      const { brokers } = await admin.describeCluster();
      const isOne = brokers.length === 1;
      if (!isOne) configEntries.push({ name: REPLICAS_MIN, value: String(IN_SYNC_MIN) });
      const present = await admin.listTopics();
      if (!present.includes(topic)) {
        // Another node may make it meanwhile: false then, and it is there all the same.
        const replicationFactor = Math.min(brokers.length, REPLICAS);
        const topics = [{ topic, numPartitions: 1, replicationFactor, configEntries }];
        await admin.createTopics({ topics, waitForLeaders: true });
      }
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      const partitions = topics[0]?.partitions.length;
      const replicasMin = isOne ? undefined : await settingOf(admin, topic, REPLICAS_MIN);
      return { partitions, brokers: brokers.length, replicasMin };
    });
    if (replicasMin !== undefined && Number(replicasMin) < IN_SYNC_MIN) {
      const wanted = `${REPLICAS_MIN} of ${IN_SYNC_MIN} or more`;
      const expected = `${wanted} at ${topic} on ${brokers} brokers`;
      const got = `got ${replicasMin}: a lost leader loses`;
      const message = `${KAFKA_FIELD}: expected ${expected}, ${got}`;
      throw new TesseraError('CONFIG_INVALID', `${message} what it alone has acknowledged`, {
        field: KAFKA_FIELD,
      });
    }
    if (partitions !== 1) {
      const message = `${KAFKA_FIELD}: expected one partition of ${topic}, got ${partitions}`;
      throw new TesseraError('CONFIG_INVALID', message, { field: KAFKA_FIELD });
    }
    this.isThere = true;
  }

  private checkFirst(next: number, [first]: readonly KafkaMessage[]): void {
    const got = Number(first?.offset);
    if (got > next && this.options.isGapless) throw this.trimmed(next, got);
  }

  private trimmed(next: number, got: number): TesseraError {
    const message = `${this.link.place}: expected records from ${next} on, got them from ${got} on`;
    return new TesseraError('LOG_TRIMMED', message);
  }

  private stalled(next: number, end: number, crash: unknown): Error {
    const why = crash instanceof Error ? `: ${crash.message}` : '';
    const message = `expected to read from ${next} on, got nothing up to ${end}${why}`;
    return new Error(`${this.name}: ${message}`);
  }
}

async function settingOf(admin: Admin, topic: string, name: string): Promise<string> {
  const { ConfigResourceTypes } = await loadKafka();
  const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [name] }];
  const described = await admin.describeConfigs({ resources, includeSynonyms: false });
  return described.resources[0]?.configEntries[0]?.configValue ?? '';
}
