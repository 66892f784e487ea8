export {
  type BehaviourEvent,
  checkBehaviourEvent,
  checkProfile,
  type StoredBehaviour,
} from './domain/behaviour-event.js';
export { type AppendOutcome, BehaviourLog } from './domain/behaviour-log.js';
export {
  type Behaviour,
  BehaviourStore,
  type UserBehaviours,
} from './domain/behaviour-store.js';
export { type IsClick, parseClickActions } from './domain/click-actions.js';
export { hasLines, parseSequenceLines, type UserSequence } from './domain/parse-sequences.js';
export { FileCheck, parseUsers, USER_ID_LENGTH_MAX, type User } from './domain/parse-users.js';
export { Popularity } from './domain/popularity.js';
export { parseRetention, type Retention, type RetentionWindow } from './domain/retention.js';
export { behaviourFolders } from './kept-behaviours.js';
export {
  type BehaviourOptions,
  behaviourOptions,
  type OpenBehaviours,
  openBehaviours,
  usersOfFile,
} from './open-behaviours.js';
export {
  EmbeddedBehaviourLog,
  type EmbeddedBehaviourOptions,
} from './outside/embedded-behaviour-log.js';
export { MemoryBehaviourStore } from './outside/memory-behaviour-store.js';
export { RedisBehaviourLog, type RedisBehaviourOptions } from './outside/redis-behaviour-log.js';
export { noticeOfForeignSeed } from './outside/seed-mark.js';
export { loadBehaviourStore, readUsersText } from './outside/users-file.js';
export { rebuildPopularity } from './rebuild-popularity.js';
