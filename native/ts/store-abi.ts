/** Functions of the addon for stores (native/src/store): see abi.ts. */

import type { StoreOpenOptions, StoreRepair, StoreState } from './generated/types.js';
import type { StoreHandle } from './handles.js';

export interface StoreAddon {
  /** Opens or makes the folder; rejects with STORE_INVALID, STORE_CORRUPT or STORE_FULL. */
  storeOpen(options: StoreOpenOptions): Promise<StoreHandle>;
  /**
   * Values of keys, and entries of ranges of keys: at once where all of it is in memory and short,
   * otherwise off this thread.
   * @param words a StoreQuery, packed, in the first `count` of them
   * @returns a StoreFound, packed
   */
  storeRead(
    store: StoreHandle,
    words: Uint32Array,
    count: number,
  ): Uint32Array | Promise<Uint32Array>;
  /** @param words a StoreBatch, packed, in the first `count` of them */
  storeWrite(store: StoreHandle, words: Uint32Array, count: number): Promise<void>;
  /** A StoreQuery without keys: no byte of what was erased there is left in a file. */
  storeScrub(store: StoreHandle, words: Uint32Array, count: number): Promise<void>;
  storeState(store: StoreHandle): StoreState;
  /** Goes on writing where that had ended; rejects with STORE_FULL or STORE_UNAVAILABLE. */
  storeRecover(store: StoreHandle): Promise<void>;
  /** Calls under way finish; the folder is free after the last of them. */
  storeClose(store: StoreHandle): void;
  /** Repairs a folder that nobody has open; without `apply` nothing is changed. */
  storeRepair(path: string, apply: boolean): Promise<StoreRepair>;
  /** Repairs a catalogue's folder of changes. */
  catalogueRepair(path: string, apply: boolean): Promise<StoreRepair>;
}
