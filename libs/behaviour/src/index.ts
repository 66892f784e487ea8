export { MemoryBehaviourStore } from './adapters/memory-behaviour-store.js';
export { loadBehaviourStore } from './adapters/users-file.js';
export { type Behaviour, BehaviourStore } from './domain/behaviour-store.js';
export { parseUsers, USER_ID_LENGTH_MAX, type User } from './domain/parse-users.js';
