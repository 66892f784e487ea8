export { BatchServer, type BatchServerOptions, type RecordBatch } from './batch-server.js';
export { deadLetterTopic, revived } from './dead-letters.js';
export { TopicErrorFilter } from './error-filter.js';
export { type KafkaAddress, kafkaClient } from './kafka-client.js';
export { MessageCodec } from './message-codec.js';
export { readTopic } from './read-topic.js';
export { PENDING_RECORDS_MAX, RecordProducer } from './record-producer.js';
export { checkKey, checkVersion, RECORD_HEADERS, type TopicRecord } from './topic-record.js';
export { ensureTopics, type TopicNeed } from './topics.js';
