/** The user KV pool as the rest of the service sees it (docs/kv-pool.md). */

import type { Cancellation } from '@tessera/errors';
import type { KvIntegrity } from '@tessera/native';

export interface KvPoolOptions {
  /** Off: nothing of a prompt is found or kept. */
  readonly pool: 'off' | 'on';
  /** Of the device tier, where the prompts of running requests lie as well. */
  readonly deviceBytes: number;
  /** 0: no such tier. */
  readonly hostBytes: number;
  /** 0: no such tier. */
  readonly diskBytes: number;
  /** Of the disk tier; made when absent, one engine at a time. */
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
  readonly eviction: 'lru' | 'segmented-lru';
  readonly readThreads: number;
  readonly storeQueueMax: number;
  readonly prefetchQueueMax: number;
  readonly memory: 'pageable' | 'locked';
}

/** What of a prompt the pool may find and keep. */
export interface KvUse {
  /** Whose it is; '' for nobody's, where only the text that all users share is kept. */
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

/** Where the keys and values of a prompt were found. */
export interface KvFound {
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly diskTokens: number;
  /** Some are not those computed from nothing: they came back through a lossy codec. */
  readonly lossy: boolean;
  /** Of those found, what a version of the adapter before the request's computed. */
  readonly inheritedTokens: number;
  /** Versions between the oldest of these, or of what was shared, and the request's. */
  readonly versionsBack: number;
  /** Waited for blocks on their way to the device when the request's turn had come. */
  readonly waitUs: number;
}

export const NOTHING_FOUND: KvFound = {
  deviceTokens: 0,
  hostTokens: 0,
  diskTokens: 0,
  lossy: false,
  inheritedTokens: 0,
  versionsBack: 0,
  waitUs: 0,
};

export type KvTier = 'device' | 'host' | 'disk';

export interface KvTierMetrics {
  readonly capacityBlocks: number;
  readonly usedBlocks: number;
  readonly hitTokens: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly readUs: number;
  readonly writtenUs: number;
  readonly evictedBlocks: number;
  /** Of them, those that no lower tier had. */
  readonly evictedDirtyBlocks: number;
}

/** Counts since the pool opened; chains, chainTokens, leases and storeQueue are as of now. */
export interface KvMetrics {
  readonly chains: number;
  readonly chainTokens: number;
  readonly leases: number;
  readonly lookups: number;
  readonly askedTokens: number;
  /** Found, but through a lossy codec. */
  readonly inexactTokens: number;
  /** Found, but computed under a version of the adapter before. */
  readonly inheritedTokens: number;
  /** Users' chains that passed on to a newer version of the adapter. */
  readonly inheritedChains: number;
  readonly commits: number;
  /** Of them, behind another append that had come first. */
  readonly commitsRematched: number;
  readonly commitsLost: number;
  readonly refusedExtends: number;
  readonly prefetches: number;
  readonly prefetchesRefused: number;
  readonly loadsFailed: number;
  readonly loadsCorrupt: number;
  readonly loadWaitUs: number;
  readonly stores: number;
  readonly storesDropped: number;
  readonly storesFailed: number;
  readonly storeWaitUs: number;
  readonly storeQueue: number;
  /** 0 while an error of the disk holds stores back. */
  readonly isStoring: number;
  /** Of the disk tier: 1 where its index was damaged at the start and begun anew. */
  readonly indexesDropped: number;
  /** Prefill per token without context, as the engine predicts it now. */
  readonly computeTokenUs: number;
  readonly blockBytes: number;
  /** Of a block in the host and disk tiers. */
  readonly storedBlockBytes: number;
  readonly tiers: Readonly<Record<KvTier, KvTierMetrics>>;
  /** What last kept blocks from being stored; '' for nothing. */
  readonly storeError: string;
}

/** What the pool has of a user under one version of prompts. */
export interface KvChain {
  /** Digest of model, template, codebook and layout. */
  readonly version: string;
  readonly isRetired: boolean;
  readonly seq: number;
  /** Without those of the static text below. */
  readonly tokens: number;
  readonly prefixTokens: number;
  readonly deviceTokens: number;
  readonly hostTokens: number;
  readonly diskTokens: number;
  /** What a restart would find. */
  readonly durableTokens: number;
  readonly unusedUs: number;
  /** Versions between the one that computed its front and this one. */
  readonly versionsBack: number;
}

/** Operations. Every method that fails throws or rejects with TesseraError. */
export interface KvPool {
  metrics(): KvMetrics;
  /** Whether anything of the user is kept. */
  holds(userId: string): boolean;
  inspect(userId: string): readonly KvChain[];
  /**
   * Forgets the user everywhere; resolves when nothing of the user can be read from disk any more.
   * Rejects with DEADLINE_EXCEEDED or IO_FAILED; what was begun goes on.
   */
  dropUser(userId: string, budgetMs: number): Promise<void>;
  /** Finds nothing under the version any more; false when the pool does not know it. */
  dropVersion(version: string): boolean;
  /**
   * Compares the pool's accounts, and every block on disk with its checksum, at a twentieth of a
   * core; one at a time. Rejects with OPERATION_BUSY, and with CANCELLED where the signal is
   * aborted.
   */
  checkIntegrity(signal?: Cancellation): Promise<KvIntegrity>;
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
    eviction: 'lru',
    readThreads: 1,
    storeQueueMax: 1,
    prefetchQueueMax: 2,
    memory: 'pageable',
  };
}
