export {
  type ClusterLog,
  type LogBounds,
  type LogEntry,
  NO_OFFSET,
  type NodePosition,
  type SeenPosition,
} from './domain/cluster-log.js';
export type { Act } from './domain/entries.js';
export type { EntryStore } from './domain/entry-store.js';
export { ERASE, type Erasure } from './domain/erasure.js';
export { KeyWindow } from './domain/key-window.js';
export { startOf } from './domain/position.js';
export {
  type PartOutcome,
  type Place,
  type PositionKeeper,
  ReplicatedState,
  type StatePart,
} from './domain/replicated-state.js';
export type { StateFolder } from './domain/state-folder.js';
export { BEHIND_MAX, Follower } from './follower.js';
export { LEASE_MS } from './lease.js';
export { openEntryStore } from './open-entry-store.js';
export { KafkaLog, type KafkaLogOptions } from './outside/kafka-log.js';
export { RedisLog, type RedisLogOptions } from './outside/redis-log.js';
export type { EntryStoreS3Settings } from './outside/s3-entry-store.js';
export { BEGINS, erasedBefore, SEAT_FILE, Seat, SNAPSHOT, untilBegun } from './seat.js';
export { Snapshots } from './snapshots.js';
export { Submissions, type Submitted } from './submissions.js';
