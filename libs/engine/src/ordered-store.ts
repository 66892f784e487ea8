import type { StoreHandle, StoreRepair } from '@tessera/native';
import { addon } from './addon.js';
import { awaitNative, callNative, fromNative } from './native-error.js';

export interface StoreEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface KeyRange {
  /** First key of the range. */
  readonly from: Uint8Array;
  /** First key after it. */
  readonly to: Uint8Array;
  readonly limit: number;
  readonly direction: 'ascending' | 'descending';
}

export interface StoreChanges {
  readonly erased: readonly Uint8Array[];
  /** After what is erased. */
  readonly put: readonly StoreEntry[];
  /**
   * What the changes survive when `write` has resolved: the end of the process or of the machine.
   */
  readonly durability: 'process' | 'machine';
}

export interface StoreCondition {
  readonly state: 'ok' | 'degraded' | 'down';
  readonly reason: string;
}

export interface StoreOptions {
  readonly path: string;
  /** Free bytes of the file system below which nothing is written. */
  readonly reserveBytes: number;
}

const HEALTHS = ['ok', 'degraded', 'down'] as const;

/**
 * An ordered map of byte strings in a folder of its own, for one process. Rejects with
 * STORE_CORRUPT where a checksum fails, STORE_FULL and STORE_UNAVAILABLE where the disk takes no
 * writes.
 */
export class OrderedStore {
  private constructor(private readonly handle: StoreHandle) {}

  /** Rejects with STORE_INVALID (in use, not writable), STORE_CORRUPT or STORE_FULL. */
  static async open(options: StoreOptions): Promise<OrderedStore> {
    return new OrderedStore(await awaitNative(() => addon().storeOpen(options)));
  }

  /** How it fares. Cheap; of a closed one: down. */
  condition(): StoreCondition {
    try {
      const { health, reason } = addon().storeState(this.handle);
      return { state: HEALTHS[health] ?? 'down', reason };
    } catch (thrown) {
      return { state: 'down', reason: fromNative(thrown).message };
    }
  }

  /** Goes on writing where that had ended. Rejects with STORE_FULL or STORE_UNAVAILABLE. */
  recover(): Promise<void> {
    return awaitNative(() => addon().storeRecover(this.handle));
  }

  /** A value per key; undefined where the key is not there. */
  async get(keys: readonly Uint8Array[]): Promise<(Buffer | undefined)[]> {
    const found = await awaitNative(() => addon().storeGet(this.handle, joined(keys)));
    const values = parted(found.offsets, found.bytes);
    return values.map((value, i) => (found.present[i] === 1 ? value : undefined));
  }

  async scan(range: KeyRange): Promise<StoreEntry[]> {
    const found = await awaitNative(() => addon().storeScan(this.handle, range));
    const values = parted(found.valueOffsets, found.values);
    return parted(found.keyOffsets, found.keys).map((key, i) => ({
      key,
      value: values[i] as Buffer,
    }));
  }

  /** Counts whole or not at all. */
  async write(changes: StoreChanges): Promise<void> {
    const erased = joined(changes.erased);
    const keys = joined(changes.put.map((entry) => entry.key));
    const values = joined(changes.put.map((entry) => entry.value));
    await awaitNative(() =>
      addon().storeWrite(this.handle, {
        erasedOffsets: erased.offsets,
        erased: erased.bytes,
        keyOffsets: keys.offsets,
        keys: keys.bytes,
        valueOffsets: values.offsets,
        values: values.bytes,
        durability: changes.durability,
      }),
    );
  }

  /** Calls under way finish; further ones reject with ENGINE_CLOSED. */
  close(): void {
    callNative(() => addon().storeClose(this.handle));
  }
}

function joined(strings: readonly Uint8Array[]) {
  const offsets = new Uint32Array(strings.length + 1);
  strings.forEach((string, i) => {
    offsets[i + 1] = (offsets[i] as number) + string.length;
  });
  return { offsets, bytes: new Uint8Array(Buffer.concat(strings)) };
}

function parted(offsets: Uint32Array, bytes: Uint8Array): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    all.subarray(offsets[i] as number, offsets[i + 1] as number),
  );
}

/** What of a damaged store can be had; with `apply` the store is made anew of that. */
export function repairStore(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().storeRepair(path, apply));
}

/** The same of a folder of changes of a catalogue. */
export function repairChanges(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().catalogueRepair(path, apply));
}
