export {
  type ClusterLog,
  ENTRY_BYTES_MAX,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type SeenPosition,
} from './domain/cluster-log.js';
export type { EntryStore } from './domain/entry-store.js';
export { openEntryStore } from './open-entry-store.js';
export { KafkaLog, type KafkaLogOptions } from './outside/kafka-log.js';
export { RedisLog, type RedisLogOptions } from './outside/redis-log.js';
export type { EntryStoreS3Settings } from './outside/s3-entry-store.js';
