export {
  parseRedisNodes,
  type RedisAddress,
  type RedisNode,
  type RedisSecurity,
} from './redis-address.js';
export { isWrongServer, redisFault, redisRefusal } from './redis-faults.js';
