export {
  type ChainName,
  type FoundHead,
  type SharedKvStore,
  VALUE_BYTES_MAX,
} from './domain/kv-store.js';
export type { StoreCall, StoreCallStatus, StoreLink } from './domain/store-link.js';
