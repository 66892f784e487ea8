export { ENTRY_BYTES_MAX, LEASE_MS, NO_OFFSET } from "./domain/cluster-log.js";
export { bodyOf, bodyText, chained, digestOfBytes, entryBytes, KEY_LENGTH_MAX, readEntry } from "./domain/entries.js";
export { openEntryStore } from "./open-entry-store.js";
export { EtcdLog } from "./outside/etcd-log.js";
export { KafkaLog } from "./outside/kafka-log.js";
export { takeOverRedisLog } from "./outside/redis-takeover.js";

//# sourceMappingURL=index.js.map