export {
  type Admit,
  type ChainPoint,
  type ClusterLog,
  ENTRY_BYTES_MAX,
  LEASE_MS,
  type LogBounds,
  type LogEnd,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type NodeStanding,
  type Renewal,
  type SeenPosition,
} from './domain/cluster-log.js';
export {
  type Act,
  bodyOf,
  bodyText,
  chained,
  digestOfBytes,
  entryBytes,
  KEY_LENGTH_MAX,
  type ReadEntry,
  readEntry,
} from './domain/entries.js';
export type { EntryStore } from './domain/entry-store.js';
export { openEntryStore } from './open-entry-store.js';
export { EtcdLog } from './outside/etcd-log.js';
export type { EntryStoreS3Settings } from './outside/s3-entry-store.js';
