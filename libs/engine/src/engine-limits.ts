import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@tessera/config';
import { type KvPoolOptions, kvOff } from './kv-pool.js';

/** Choices of the engine that no operator makes: each was measured against its alternative. */
export const ENGINE_CHOICES = {
  /** Requests join a running batch between passes; whole batches answer later at every load. */
  batching: 'continuous',
  /**
   * Target duration of a forward pass in microseconds, so that a request that joins waits for one
   * short pass; exceeded with several requests or where the fixed cost of a pass dominates.
   */
  passTimeTargetUs: 5000,
} as const;

/** Batches that wait or run: behind more nothing is in time, and admission refuses it before. */
const BATCHES_MAX = 16;

/** File of fixed activation scales in a model's folder, which w8a8 reads; '' for none. */
export function scalesIn(modelPath: string, computeType: string): string {
  const path = join(modelPath, 'activation-scales.json');
  return computeType === 'w8a8' && existsSync(path) ? path : '';
}

/** Share of a queue reserved for the two other classes: a sixteenth each (fair_share.cc). */
const KEPT_OF_OTHERS = 2 / 16;

/** Places of a queue that admits so many requests of one class at once. */
export const queueCapacityFor = (requests: number) => Math.ceil(requests / (1 - KEPT_OF_OTHERS));

/** Limits of an engine from its configuration. */
export function engineLimits(engine: Config['engine']) {
  return {
    ...engine,
    ...ENGINE_CHOICES,
    queueCapacity: BATCHES_MAX * engine.batchRequestsMax,
    // A scored item is a row of a pass, as a beam is.
    scoreItemsMax: engine.widthMax,
  };
}

/** Choices of the KV pool that no operator makes. */
const KV_CHOICES = {
  /** Threads that bring blocks to the device: two keep a disk busy. */
  readThreads: 2,
  /** Users whose new blocks wait to be stored; those of further users are not stored. */
  storeQueueMax: 1024,
  /** Users whose blocks wait to be loaded; those of further users are computed. */
  prefetchQueueMax: 256,
} as const;

/** Options of the KV pool from its configuration; without a device tier there is no pool. */
export function kvOptions({
  kv,
  engine,
}: Pick<Config, 'kv' | 'engine'>): Omit<KvPoolOptions, 'versionsBackMax'> {
  // Prompts of running requests lie there all the same.
  if (kv.deviceBytes === 0) return kvOff(engine.kvBytesMax);
  const { deviceBytes, hostBytes, diskBytes, path, blockCodec } = kv;
  return { deviceBytes, hostBytes, diskBytes, path, blockCodec, ...KV_CHOICES, pool: 'on' };
}
