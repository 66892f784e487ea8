export type { ChainName, FoundHead, SharedKvStore } from './domain/kv-store.js';
export { parseStoreAddress, type StoreAddress } from './domain/store-address.js';
export type { StoreCall, StoreCallStatus, StoreLink } from './domain/store-link.js';
export { RedisSharedStore, type RedisStoreOptions } from './outside/redis-store.js';
export type { StoreS3Settings } from './outside/s3-client.js';
export { S3SharedStore, type S3StoreOptions } from './outside/s3-store.js';
