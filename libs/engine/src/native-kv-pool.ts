import { type Cancellation, TesseraError } from '@tessera/errors';
import {
  type EngineHandle,
  KV_CHAIN_SLOTS,
  KV_METRICS_SLOTS,
  KV_TIER_SLOTS,
  KV_TIERS,
  type KvIntegrity,
  type EngineOptions as NativeEngineOptions,
} from '@tessera/native';
import { addon } from './addon.js';
import type { KvChain, KvMetrics, KvPool, KvPoolOptions, KvTierMetrics } from './kv-pool.js';
import { awaitNative, callNative } from './native-error.js';

const US_PER_MS = 1000;

/** Options of the addon that the pool's own options become. */
export type KvOptionFields = Pick<
  NativeEngineOptions,
  | 'kvPool'
  | 'kvDeviceBytes'
  | 'kvHostBytes'
  | 'kvDiskBytes'
  | 'kvFolder'
  | 'kvDiskReserveBytes'
  | 'kvBlockCodec'
  | 'kvVersionsBackMax'
  | 'kvEviction'
  | 'kvReadThreads'
  | 'kvStoreQueueMax'
  | 'kvPrefetchQueueMax'
  | 'kvMemory'
>;

export function kvFields(kv: KvPoolOptions): KvOptionFields {
  return {
    kvPool: kv.pool,
    kvDeviceBytes: kv.deviceBytes,
    kvHostBytes: kv.hostBytes,
    kvDiskBytes: kv.diskBytes,
    kvFolder: kv.path,
    kvDiskReserveBytes: kv.diskReserveBytes ?? 0,
    kvBlockCodec: kv.blockCodec,
    kvVersionsBackMax: kv.versionsBackMax,
    kvEviction: kv.eviction,
    kvReadThreads: kv.readThreads,
    kvStoreQueueMax: kv.storeQueueMax,
    kvPrefetchQueueMax: kv.prefetchQueueMax,
    kvMemory: kv.memory,
  };
}

function named(names: readonly string[], values: Float64Array, first: number) {
  return Object.fromEntries(names.map((name, i) => [name, values[first + i] ?? 0]));
}

/** The pool inside the engine of this process. */
export class NativeKvPool implements KvPool {
  private isChecking = false;

  constructor(private readonly engine: EngineHandle) {}

  metrics(): KvMetrics {
    const own = KV_METRICS_SLOTS.length;
    const slots = new Float64Array(own + KV_TIERS.length * KV_TIER_SLOTS.length);
    const storeError = callNative(() => addon().kvMetrics(this.engine, slots));
    const tiers = KV_TIERS.map((tier, i) => [
      tier,
      named(KV_TIER_SLOTS, slots, own + i * KV_TIER_SLOTS.length) as unknown as KvTierMetrics,
    ]);
    const counts = named(KV_METRICS_SLOTS, slots, 0) as unknown as Omit<
      KvMetrics,
      'tiers' | 'storeError'
    >;
    return { ...counts, tiers: Object.fromEntries(tiers) as KvMetrics['tiers'], storeError };
  }

  holds(userId: string): boolean {
    return callNative(() => addon().kvHolds(this.engine, userId));
  }

  inspect(userId: string): readonly KvChain[] {
    const { versions, numbers } = callNative(() => addon().kvInspect(this.engine, userId));
    return versions.map((version, i) => {
      const chain = named(KV_CHAIN_SLOTS, numbers, i * KV_CHAIN_SLOTS.length);
      return { ...(chain as unknown as KvChain), version, isRetired: chain.isRetired === 1 };
    });
  }

  async dropUser(userId: string, budgetMs: number): Promise<void> {
    await awaitNative(() => addon().kvDropUser(this.engine, userId, budgetMs * US_PER_MS));
  }

  dropVersion(version: string): boolean {
    return callNative(() => addon().kvDropVersion(this.engine, version));
  }

  async checkIntegrity(signal?: Cancellation): Promise<KvIntegrity> {
    if (this.isChecking) {
      const message = 'checkIntegrity: expected one check at a time, got another';
      throw new TesseraError('OPERATION_BUSY', message);
    }
    if (signal?.aborted === true) throw new TesseraError('CANCELLED', 'the caller went away');
    const cancel = () => callNative(() => addon().kvCancelCheck(this.engine));
    this.isChecking = true;
    try {
      const checked = awaitNative(() => addon().kvCheckIntegrity(this.engine));
      signal?.addEventListener('abort', cancel, { once: true });
      return await checked;
    } finally {
      this.isChecking = false;
      signal?.removeEventListener('abort', cancel);
    }
  }
}
