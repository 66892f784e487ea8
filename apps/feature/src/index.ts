export { type ErasesUsers, eraseWhole } from './behaviour-edge.js';
export { openClusterLog } from './cluster-log.js';
export { pendingErasuresOf, retrievalPools } from './erasure-parts.js';
export { behaviourMethods, FeatureModule, type FeatureOptions } from './feature.module.js';
export { AllPools, OwnPool, RemotePools } from './followed-pools.js';
export { BEHAVIOURS_PATTERN } from './kafka/behaviour-topic.controller.js';
export { KvFollower } from './kv-follower.js';
export { warnOfForeignBehaviours } from './store-notices.js';
