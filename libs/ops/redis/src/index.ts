export {
  type IdentityFiles as RedisIdentity,
  type StoreSecurity as RedisSecurity,
  securityOf,
} from '@tessera/config';
export { keyKeeping } from './kept-keys.js';
export { parseRedisNodes, type RedisAddress } from './redis-address.js';
export { mastersOf, type RedisClient, RedisLink } from './redis-link.js';
