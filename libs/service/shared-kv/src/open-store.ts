import type { BucketSettings } from '@tessera/buckets';
import { type RedisIdentity, securityOf } from '@tessera/redis';
import type { SharedKvStore } from './domain/kv-store.js';
import { parseStoreAddress } from './domain/store-address.js';
import { RedisSharedStore } from './outside/redis-store.js';
import { S3SharedStore } from './outside/s3-store.js';

/** Settings of one store; they can be sent to another thread. */
export interface StoreSettings {
  /** See `parseStoreAddress`. */
  readonly address: string;
  /** Deployments of one store differ by it. */
  readonly prefix: string;
  /** Milliseconds for which Redis keeps an owner that nobody reads or writes. */
  readonly ttlMs: number;
  /** Milliseconds of one operation of the store. */
  readonly timeoutMs: number;
  /** Identity for Redis. */
  readonly identity?: RedisIdentity;
  /** Settings of a bucket. */
  readonly s3: BucketSettings;
}

/**
 * The store of an address. Nothing is asked yet.
 * @param field of the configuration that has the address
 * @throws TesseraError CONFIG_INVALID
 */
export function openStore(field: string, settings: StoreSettings): SharedKvStore {
  const address = parseStoreAddress(field, settings.address);
  if (address.kind === 's3') return new S3SharedStore({ ...settings, field, address });
  const security = settings.identity && securityOf(settings.identity);
  return new RedisSharedStore({ ...settings, field, address, security });
}
