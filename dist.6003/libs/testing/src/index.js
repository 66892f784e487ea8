export { fakePush, partsOf, pushOf } from "./adapter-push.js";
export { byteLevelTokenizer, levelTokenTexts } from "./byte-level-tokenizer.js";
export { checkNothingHeld, closingEmpty } from "./check-nothing-held.js";
export { startEtcdServer } from "./etcd-server.js";
export { FakeAdapterEngine } from "./fake-adapter-engine.js";
export { FakeCatalogue, FakeChangingCatalogue } from "./fake-catalogue.js";
export { FakeEngine, FakeKvPool } from "./fake-engine.js";
export { FakeStoreLink } from "./fake-store-link.js";
export { filesWith } from "./files-with.js";
export { startKafkaBroker } from "./kafka-broker.js";
export { MemoryKvStore } from "./memory-kv-store.js";
export { MemoryEntryStore, MemoryLog, MemoryLogState } from "./memory-log.js";
export { ModelDisk, ModelNode } from "./model-node.js";
export { mayBeHad, randomAttributes, randomEligibility } from "./random-eligibility.js";
export { missingFor } from "./real-servers.js";
export { startRedisSentinel } from "./redis-sentinel.js";
export { documentedRights, startRedisCluster, startRedisServer } from "./redis-server.js";
export { relevanceProfile } from "./relevance-profile.js";
export { S3_CREDENTIALS, startS3Server } from "./s3-server.js";
export { safetensorsHeader, valuesOf } from "./safetensors-header.js";
export { seededRandom } from "./seeded-random.js";
export { StalledReader } from "./stalled-reader.js";
export { temporaryFolder } from "./temporary-folder.js";
export { TEXT_LIMITS } from "./text-limits.js";
export { throttledProxy } from "./throttled-proxy.js";
export { until } from "./until.js";

//# sourceMappingURL=index.js.map