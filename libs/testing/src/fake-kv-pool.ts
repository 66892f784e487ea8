import type { KvChain, KvMetrics, KvPool } from '@tessera/engine';

const COUNTED =
  'chainTokens leases prefetching lookups askedTokens commits commitsLost refusedExtends ' +
  'prefetches prefetchesRefused loadsFailed loadsCorrupt loadWaitUs stores storesDropped ' +
  'storesFailed storeWaitUs storeQueue computeTokenUs inexactTokens commitsRematched ' +
  'inheritedTokens inheritedChains indexesDropped looks looksFound lookUs puts putsChanged ' +
  'putsErased putsFailed loadsMissing headsRefused';
type Counted = Exclude<
  keyof KvMetrics,
  'chains' | 'isStoring' | 'blockBytes' | 'storedBlockBytes' | 'tiers' | 'storeError'
>;
const NO_COUNTS = Object.fromEntries(COUNTED.split(' ').map((name) => [name, 0])) as Record<
  Counted,
  number
>;

const TIER_COUNTS = {
  capacityBlocks: 0,
  usedBlocks: 0,
  hitTokens: 0,
  readBytes: 0,
  writtenBytes: 0,
  readUs: 0,
  writtenUs: 0,
  evictedBlocks: 0,
  evictedDirtyBlocks: 0,
};

/** A pool that holds what a test puts into it. */
export class FakeKvPool implements KvPool {
  readonly chains = new Map<string, KvChain[]>();
  readonly droppedVersions: string[] = [];
  storeError = '';

  metrics(): KvMetrics {
    return {
      chains: this.chains.size,
      ...NO_COUNTS,
      isStoring: this.storeError === '' ? 1 : 0,
      blockBytes: 64,
      storedBlockBytes: 64,
      tiers: ['device', 'host', 'disk'].map((tier) => ({ tier, ...TIER_COUNTS })),
      storeError: this.storeError,
    };
  }

  holds(userId: string): boolean {
    return this.inspect(userId).some((chain) => !chain.isRetired);
  }

  inspect(userId: string): readonly KvChain[] {
    return this.chains.get(userId) ?? [];
  }

  async dropUser(userId: string): Promise<void> {
    this.chains.delete(userId);
  }

  noteErasures(): void {}

  dropVersion(version: string): boolean {
    this.droppedVersions.push(version);
    return [...this.chains.values()].flat().some((chain) => chain.version === version);
  }

  async checkIntegrity() {
    return {
      chains: this.chains.size,
      blocks: 0,
      checkedDiskBlocks: 0,
      corruptDiskBlocks: 0,
      unreadableDiskBlocks: 0,
      faults: [],
    };
  }
}
