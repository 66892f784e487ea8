export type { ChainName, FoundHead, SharedKvStore } from './domain/kv-store.js';
export type { ServedLink, ServeOptions } from './domain/serve-store-link.js';
export { parseStoreAddress } from './domain/store-address.js';
export type { StoreCall, StoreCallStatus, StoreLink } from './domain/store-link.js';
export type { GuardCounts, GuardOptions } from './guarded-store.js';
export { openStore, type StoreSettings } from './open-store.js';
export type { StoreMetrics, StoreThreadData } from './store-messages.js';
export { StoreThread } from './store-thread.js';
