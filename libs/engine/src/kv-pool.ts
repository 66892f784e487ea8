/** The user KV pool as the rest of the service sees it (docs/internals/kv-pool.md). */

import type { Cancellation } from '@tessera/errors';
import type { KvChain, KvFound, KvIntegrity, KvMetrics } from '@tessera/native';

export interface KvPoolOptions {
  /** Off: nothing of a prompt is found or kept. */
  readonly pool: 'off' | 'on';
  /** Bytes of the device tier, which also holds the prompts of running requests. */
  readonly deviceBytes: number;
  /** 0: no such tier. */
  readonly hostBytes: number;
  /** 0: no such tier. */
  readonly diskBytes: number;
  /** Folder of the disk tier; made when absent, one engine at a time. */
  readonly path: string;
  /** Free bytes of its file system below which nothing is stored there; left out: 0. */
  readonly diskReserveBytes?: number;
  /** How blocks are written in the host and disk tiers; `int8` changes answers, which say so. */
  readonly blockCodec: 'exact' | 'int8';
  /**
   * Versions of an adapter between the one that computed keys and values and the one that goes on
   * with them, at most; 0: none. More change answers, which say so.
   */
  readonly versionsBackMax: number;
  readonly readThreads: number;
  readonly storeQueueMax: number;
  readonly prefetchQueueMax: number;
  /** Left out: no store that other processes use. */
  readonly sharing?: KvSharing;
}

/** Stores that other processes use as well. */
export interface KvSharing {
  /** Links of `makeStoreLink`, nearest first. */
  readonly links: readonly number[];
  /** This process has applied all erasures of the cluster's log up to the offset. */
  erasedUntil(offset: number): void;
}

/** The part of a prompt that the pool may find and keep. */
export interface KvUse {
  /** The user; '' where only the text that all users share is kept. */
  readonly userId: string;
  /** First tokens that are the same for all users. */
  readonly prefixTokens: number;
  /** First tokens that the user's next prompt may begin with: never the scene. */
  readonly keepTokens: number;
  /** Nothing that a version before the request's computed. */
  readonly wantsExact?: boolean;
  /** Begun when the request arrived. */
  readonly prefetch?: KvPrefetch;
}

/** Blocks on their way to the device for a request that is still being made. */
export interface KvPrefetch {
  /** The ticket that the request will have. */
  readonly ticket: number;
  /** Ends it where no request comes; nothing after a request took it. */
  release(): void;
}

export const NOTHING_FOUND: KvFound = {
  tiers: [],
  deviceTokens: 0,
  hostTokens: 0,
  diskTokens: 0,
  lossy: false,
  inheritedTokens: 0,
  versionsBack: 0,
  waitUs: 0,
};

/** Operations. Every method that fails throws or rejects with TesseraError. */
export interface KvPool {
  metrics(): KvMetrics;
  /** True if anything of the user is kept. */
  holds(userId: string): boolean;
  inspect(userId: string): readonly KvChain[];
  /**
   * Forgets the user everywhere; resolves when nothing of the user can be read from disk or from
   * shared stores any more. Rejects with DEADLINE_EXCEEDED or IO_FAILED; what was begun goes on.
   * @param at offset of the erasure in the log of the cluster: shared stores take nothing of the
   *   user from a process that has not applied it
   */
  dropUser(userId: string, budgetMs: number, at?: number): Promise<void>;
  /** All erasures of the cluster's log up to the offset are applied here. */
  noteErasures(until: number): void;
  /** Finds nothing under the version any more; false when the pool does not know it. */
  dropVersion(version: string): boolean;
  /**
   * Compares the pool's accounts, and every block on disk with its checksum, at a twentieth of a
   * core; one at a time. Rejects with OPERATION_BUSY, and with CANCELLED where the signal is
   * aborted.
   */
  checkIntegrity(signal?: Cancellation): Promise<KvIntegrity>;
}

/** Keeps what all users share, in memory alone, while running requests leave room for it. */
export function headPool(deviceBytes: number): KvPoolOptions {
  return { ...kvOff(deviceBytes), pool: 'on' };
}

/** No pool: prompts of running requests still need the device tier. */
export function kvOff(deviceBytes: number): KvPoolOptions {
  return {
    pool: 'off',
    deviceBytes,
    hostBytes: 0,
    diskBytes: 0,
    path: '',
    blockCodec: 'exact',
    versionsBackMax: 0,
    readThreads: 1,
    storeQueueMax: 1,
    prefetchQueueMax: 2,
  };
}
