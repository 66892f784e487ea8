export { type FakePush, fakePush, partsOf, pushOf } from './adapter-push.js';
export { byteLevelTokenizer, levelTokenTexts } from './byte-level-tokenizer.js';
export { checkNothingHeld, closingEmpty } from './check-nothing-held.js';
export { drawnHeads } from './drawn-heads.js';
export { type EtcdServer, startEtcdServer } from './etcd-server.js';
export { FakeAdapterEngine, type FakeEngineAdapter } from './fake-adapter-engine.js';
export { FakeCatalogue, FakeChangingCatalogue, type FakeItem } from './fake-catalogue.js';
export { FakeEngine, type FakeEngineOptions, type PathScore } from './fake-engine.js';
export { FakeKvPool } from './fake-kv-pool.js';
export { FakeStoreLink, type StoreCallEnd } from './fake-store-link.js';
export { filesWith } from './files-with.js';
export { freePort, freePorts } from './free-port.js';
export { type KafkaBroker, type KafkaRight, startKafkaBroker } from './kafka-broker.js';
export { MemoryKvStore } from './memory-kv-store.js';
export { type LogCopy, MemoryEntryStore, MemoryLog, MemoryLogState } from './memory-log.js';
export { MemoryPending } from './memory-pending.js';
export { ModelDisk, ModelNode, type ModelOptions } from './model-node.js';
export {
  mayBeHad,
  randomAttributes,
  randomEligibility,
  type TypedAttributes,
} from './random-eligibility.js';
export { missingFor, type RealServer } from './real-servers.js';
export { type RedisSentinel, startRedisSentinel } from './redis-sentinel.js';
export {
  documentedRights,
  type RedisCluster,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
} from './redis-server.js';
export { relevanceProfile } from './relevance-profile.js';
export { S3_CREDENTIALS, type S3Server, startS3Server } from './s3-server.js';
export { safetensorsHeader, valuesOf } from './safetensors-header.js';
export { seededRandom } from './seeded-random.js';
export { type NodeClock, SimulatedClock } from './simulated-clock.js';
export { StalledReader } from './stalled-reader.js';
export { temporaryFolder } from './temporary-folder.js';
export { TEXT_LIMITS } from './text-limits.js';
export { type ThrottledProxy, throttledProxy } from './throttled-proxy.js';
export { until } from './until.js';
