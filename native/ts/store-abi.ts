/** Functions of the addon for stores (native/src/store): see abi.ts. */

import type { StoreBatch, StoreOpenOptions, StoreRepair, StoreState } from './generated/types.js';
import type { StoreHandle } from './handles.js';

export interface StoreAddon {
  /** Opens or makes the folder; rejects with STORE_INVALID, STORE_CORRUPT or STORE_FULL. */
  storeOpen(options: StoreOpenOptions): Promise<StoreHandle>;
  /**
   * Values of keys, and entries of ranges of keys (ordered by their bytes): at once where all of it
   * is in memory and short, otherwise off this thread. String i is
   * bytes[offsets[i] .. offsets[i + 1]): first the keys, then of each range its first key and the
   * first key after it.
   * @param head number of keys, number of ranges; per range its entries at most, and 1 for those
   * from its end backwards; offsets
   * @returns words of 32 bits in the machine's order (per key 1 where it is there; entries of each
   * range; offsets), then bytes: the values, '' for what is not there, then key and value of each
   * entry
   */
  storeRead(
    store: StoreHandle,
    head: Uint32Array,
    bytes: Uint8Array,
  ): Uint8Array | Promise<Uint8Array>;
  storeWrite(store: StoreHandle, batch: StoreBatch): Promise<void>;
  storeState(store: StoreHandle): StoreState;
  /** Goes on writing where that had ended; rejects with STORE_FULL or STORE_UNAVAILABLE. */
  storeRecover(store: StoreHandle): Promise<void>;
  /** Calls under way finish; the folder is free after the last of them. */
  storeClose(store: StoreHandle): void;
  /** Of a folder that nobody has open; without `apply` nothing is changed. */
  storeRepair(path: string, apply: boolean): Promise<StoreRepair>;
  /** The same of a folder of changes of a catalogue. */
  catalogueRepair(path: string, apply: boolean): Promise<StoreRepair>;
}
