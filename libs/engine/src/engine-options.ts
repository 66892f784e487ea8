import type { EngineOptions as NativeEngineOptions } from '@tessera/native';
import type { KvPoolOptions } from './kv-pool.js';
import type { KvOptionFields } from './native-kv-pool.js';

/** How an engine is opened; without `kv` nothing is kept between requests. */
export type EngineOptions = Omit<NativeEngineOptions, keyof KvOptionFields | keyof Defaulted> &
  Partial<Defaulted> & { readonly kv?: KvPoolOptions };
/** Left out: `cpu`, no adapters, the whole vocabulary. */
type Defaulted = Pick<NativeEngineOptions, 'device' | 'adapterBytesMax' | 'headTokens'>;
