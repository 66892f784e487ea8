export { backoffMs, untilDone } from "./backoff.js";
export { BatchServer } from "./batch-server.js";
export { brokerCondition } from "./broker-condition.js";
export { deadLetterTopic, revived } from "./dead-letters.js";
export { TopicErrorFilter } from "./error-filter.js";
export { kafkaClient, loadKafka, securedBy } from "./kafka-client.js";
export { MessageCodec } from "./message-codec.js";
export { readRecords } from "./read-records.js";
export { readTopic } from "./read-topic.js";
export { answeredBytes, checkedRequest, RecallRequests } from "./recall-requests.js";
export { PENDING_RECORDS_MAX, RecordProducer } from "./record-producer.js";
export { serveTopics, topicSettings } from "./serve-topics.js";
export { topicNames } from "./topic-names.js";
export { checkKey, checkVersion, RECORD_HEADERS } from "./topic-record.js";
export { ensureTopics } from "./topics.js";
export { wireRefusal } from "./wire-refusal.js";

//# sourceMappingURL=index.js.map