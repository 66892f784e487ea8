import { type Config, type KafkaSecurity, kafkaSecurity } from '@tessera/config';
import type { Log } from '@tessera/telemetry';
import { BatchServer } from './batch-server.js';
import { kafkaClient } from './kafka-client.js';
import { RecordProducer } from './record-producer.js';

const CLIENT_ID = 'tessera';
/**
 * Partitions of a topic made because it is missing: one for each of some nodes. An
 * operator who wants others, or more replicas than the broker's default, makes the topic before.
 */
const PARTITIONS = 6;

/** Topic settings of the configuration. */
export interface TopicSettings {
  /** HOST:PORT of some brokers, separated by commas; '' for none. */
  readonly brokers: string;
  readonly groupId: string;
  /** Name of this process. */
  readonly node: string;
  /** Left out: `RECORDS_AT_ONCE_MAX`. */
  readonly batchRecordsMax?: number;
  /** Left out: neither TLS nor SASL. */
  readonly security?: KafkaSecurity;
}

/**
 * Topic settings of the process; @throws TesseraError CONFIG_INVALID for bad files of TLS or SASL
 */
export function topicSettings(config: Config): TopicSettings {
  const { kafka, cluster, node } = config;
  const { brokers } = kafka;
  const security = kafkaSecurity(config);
  return { brokers, groupId: cluster.name, node: node.name, security };
}

export interface TopicsWanted {
  /** Topic of each pattern that handlers name. */
  readonly topics: Readonly<Record<string, string>>;
  /** Folder of what the records of a topic change, where this process has them all. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Topics that handlers write to. */
  readonly outputTopics: readonly string[];
  /** Every topic is served, for the first time. */
  readonly onServing: () => void;
}

/** The server of a broker's topics. */
export interface ServedTopics {
  readonly server: BatchServer;
  readonly producer: RecordProducer;
}

/** Undefined where no broker is named. Nothing is connected yet. */
export async function serveTopics(
  { brokers, security = {}, ...settings }: TopicSettings,
  wanted: TopicsWanted,
  log: Log,
): Promise<ServedTopics | undefined> {
  if (brokers === '') return undefined;
  const addresses = brokers.split(',').map((broker) => broker.trim());
  const client = await kafkaClient({ clientId: CLIENT_ID, brokers: addresses, security }, log);
  const producer = new RecordProducer(client);
  const partitions = { createPartitions: PARTITIONS, partitionsAtOnce: PARTITIONS };
  const options = { ...settings, ...wanted, ...partitions };
  return { server: new BatchServer(client, producer, options, log), producer };
}
