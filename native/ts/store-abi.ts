/** What crosses for the ordered store (native/src/store): see abi.ts. */

declare const storeBrand: unique symbol;
/** Opaque handle of an open ordered store. */
export interface StoreHandle {
  readonly [storeBrand]: true;
}

/** Byte strings laid end to end: string i is bytes[offsets[i] .. offsets[i + 1]). */
export interface StoreKeys {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Keys in [from, to), ordered by their bytes, at most `limit` of them from the named end. */
export interface StoreRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly limit: number;
  readonly direction: 'ascending' | 'descending';
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

export interface StoreValues extends StoreKeys {
  /** Per key: 1 where it is there; the others' values are empty. */
  readonly present: Uint8Array;
}

export interface StoreEntries {
  readonly keyOffsets: Uint32Array;
  readonly keys: Uint8Array;
  readonly valueOffsets: Uint32Array;
  readonly values: Uint8Array;
}
