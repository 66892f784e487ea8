import { type Cancellation, TesseraError } from '@tessera/errors';
import type {
  EngineHandle,
  KvChain,
  KvIntegrity,
  KvMetrics,
  EngineOptions as NativeEngineOptions,
} from '@tessera/native';
import { addon } from './addon.js';
import type { KvPool, KvPoolOptions, KvSharing } from './kv-pool.js';
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
  | 'kvReadThreads'
  | 'kvStoreQueueMax'
  | 'kvPrefetchQueueMax'
  | 'kvSharedLinks'
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
    kvReadThreads: kv.readThreads,
    kvStoreQueueMax: kv.storeQueueMax,
    kvPrefetchQueueMax: kv.prefetchQueueMax,
    kvSharedLinks: Int32Array.from(kv.sharing?.links ?? []),
  };
}

/** The pool inside the engine of this process. */
export class NativeKvPool implements KvPool {
  private isChecking = false;

  constructor(
    private readonly engine: EngineHandle,
    private readonly sharing: KvSharing | undefined,
  ) {}

  metrics(): KvMetrics {
    return callNative(() => addon().kvMetrics(this.engine));
  }

  holds(userId: string): boolean {
    return callNative(() => addon().kvHolds(this.engine, userId));
  }

  inspect(userId: string): readonly KvChain[] {
    return callNative(() => addon().kvInspect(this.engine, userId));
  }

  async dropUser(userId: string, budgetMs: number, at = 0): Promise<void> {
    await awaitNative(() => addon().kvDropUser(this.engine, userId, budgetMs * US_PER_MS, at));
    this.noteErasures(at);
  }

  noteErasures(until: number): void {
    this.sharing?.erasedUntil(until);
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
