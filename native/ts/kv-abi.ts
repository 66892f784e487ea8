/** What the addon tells of the user KV pool (docs/kv-pool.md). */

/** Tiers of the user KV pool, in the order of every list by tier. */
export const KV_TIERS = ['device', 'host', 'disk'] as const;

/** kvMetrics writes these, then KV_TIER_SLOTS for each of KV_TIERS. */
export const KV_METRICS_SLOTS = [
  'chains',
  'chainTokens',
  'leases',
  'lookups',
  'askedTokens',
  'commits',
  'commitsLost',
  'refusedExtends',
  'prefetches',
  'prefetchesRefused',
  'loadsFailed',
  'loadsCorrupt',
  'loadWaitUs',
  'stores',
  'storesDropped',
  'storesFailed',
  'storeWaitUs',
  'storeQueue',
  'isStoring',
  'computeTokenUs',
  'blockBytes',
  'storedBlockBytes',
  'inexactTokens',
  'commitsRematched',
  'inheritedTokens',
  'inheritedChains',
  'indexesDropped',
] as const;

export const KV_TIER_SLOTS = [
  'capacityBlocks',
  'usedBlocks',
  'hitTokens',
  'readBytes',
  'writtenBytes',
  'readUs',
  'writtenUs',
  'evictedBlocks',
  'evictedDirtyBlocks',
] as const;

/** kvInspect gives these for each chain. */
export const KV_CHAIN_SLOTS = [
  'isRetired',
  'seq',
  'tokens',
  'prefixTokens',
  'deviceTokens',
  'hostTokens',
  'diskTokens',
  'durableTokens',
  'unusedUs',
  'versionsBack',
] as const;

/** Chains of a user, one per version of prompts that hold any of the user. */
export interface KvChains {
  /** Digest of the version. */
  readonly versions: readonly string[];
  /** [n][KV_CHAIN_SLOTS.length]. */
  readonly numbers: Float64Array;
}

export interface KvIntegrity {
  readonly chains: number;
  readonly blocks: number;
  readonly checkedDiskBlocks: number;
  /** Given up: their bytes do not have their checksum. */
  readonly corruptDiskBlocks: number;
  readonly unreadableDiskBlocks: number;
  /** Of the pool's own accounts; empty unless there is a bug. */
  readonly faults: readonly string[];
}
