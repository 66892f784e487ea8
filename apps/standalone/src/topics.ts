import type { Config } from '@tessera/config';
import { BatchServer, kafkaClient, RecordProducer } from '@tessera/kafka';
import type { Log } from '@tessera/telemetry';
import { BEHAVIOURS_PATTERN } from '../../feature/src/index.js';
import {
  CATALOGUE_CHANGES_PATTERN,
  RECALL_REQUESTS_PATTERN,
  RecallTopicSettings,
} from '../../retrieval/src/index.js';

const CLIENT_ID = 'tessera';

/** What serves the topics of a broker. */
export interface Topics {
  readonly server: BatchServer;
  readonly producer: RecordProducer;
  readonly settings: RecallTopicSettings;
}

/** Undefined where the configuration names no broker. Nothing is connected yet. */
export function topicsOf(
  config: Config,
  takesBehaviours: boolean,
  log: Log,
  onServing: () => void,
): Topics | undefined {
  const { kafka, recall } = config;
  if (kafka.brokers === '') return undefined;
  const brokers = kafka.brokers.split(',').map((broker) => broker.trim());
  const client = kafkaClient({ clientId: CLIENT_ID, brokers }, log);
  const topics = {
    [RECALL_REQUESTS_PATTERN]: kafka.requestsTopic,
    [CATALOGUE_CHANGES_PATTERN]: kafka.changesTopic,
    ...(takesBehaviours ? { [BEHAVIOURS_PATTERN]: kafka.behavioursTopic } : {}),
  };
  const server = new BatchServer(
    client,
    {
      topics,
      groupId: kafka.groupId,
      batchRecordsMax: kafka.batchRecordsMax,
      partitionsAtOnce: kafka.createPartitions || 1,
      fetchBytesMax: kafka.fetchBytesMax,
      createPartitions: kafka.createPartitions,
      outputTopics: [kafka.responsesTopic, kafka.auditsTopic].filter((topic) => topic !== ''),
      onServing,
    },
    log,
  );
  const { responsesTopic } = kafka;
  return {
    server,
    producer: new RecordProducer(client),
    settings: new RecallTopicSettings(responsesTopic, recall.defaultDeadlineMs, Date.now),
  };
}
