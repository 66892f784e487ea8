/** What crosses for the ordered store (native/src/store): see abi.ts. */

declare const storeBrand: unique symbol;
/** Opaque handle of an open ordered store. */
export interface StoreHandle {
  readonly [storeBrand]: true;
}

/** Counts whole or not at all; what is put comes after what is erased. */
export interface StoreBatch {
  readonly erasedOffsets: Uint32Array;
  readonly erased: Uint8Array;
  readonly keyOffsets: Uint32Array;
  readonly keys: Uint8Array;
  readonly valueOffsets: Uint32Array;
  readonly values: Uint8Array;
  /** What it survives when the call has returned: the end of the process, or of the machine. */
  readonly durability: 'process' | 'machine';
}

export interface StoreOpenOptions {
  /** Made where it is missing; for one process. */
  readonly path: string;
  /** Free bytes of the file system below which nothing is written. */
  readonly reserveBytes: number;
}

export interface StoreState {
  /** 0: well; 1: reads work, writes are refused; 2: nothing works. */
  readonly health: number;
  /** '' where it is well. */
  readonly reason: string;
}

/** Of what is damaged, what can be had (npm run repair). */
export interface StoreRepair {
  /** '' for nothing: the store is whole. */
  readonly damage: string;
  /** Writes, or number of the newest change, at least. */
  readonly acknowledged: number;
  /** Of them, from the first on. */
  readonly readable: number;
  /** Of an ordered store: gathered from tables, so that which writes are lost is not known. */
  readonly isGathered: boolean;
  /** Of an ordered store that was damaged. */
  readonly keysLeft: number;
  /** Folder with what was there before; '' where nothing was changed. */
  readonly aside: string;
}

/** Functions of the addon for stores. */
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
