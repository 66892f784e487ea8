export { backoffMs, untilDone } from './backoff.js';
export { BatchServer, type BatchServerOptions, type RecordBatch } from './batch-server.js';
export { brokerCondition } from './broker-condition.js';
export { deadLetterTopic, revived } from './dead-letters.js';
export { TopicErrorFilter } from './error-filter.js';
export { type KafkaAddress, kafkaClient, loadKafka, securedBy } from './kafka-client.js';
export { MessageCodec } from './message-codec.js';
export { type DeadRecord, readRecords } from './read-records.js';
export { readTopic } from './read-topic.js';
export {
  answeredBytes,
  checkedRequest,
  RecallRequests,
  type TopicRecall,
} from './recall-requests.js';
export { PENDING_RECORDS_MAX, RecordProducer } from './record-producer.js';
export {
  type ServedTopics,
  serveTopics,
  type TopicSettings,
  topicSettings,
} from './serve-topics.js';
export { type TopicNames, topicNames } from './topic-names.js';
export { checkKey, checkVersion, RECORD_HEADERS, type TopicRecord } from './topic-record.js';
export { ensureTopics, type TopicNeed } from './topics.js';
export { wireRefusal } from './wire-refusal.js';
