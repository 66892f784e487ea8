import {
  type PackedEntries,
  PackedReader,
  PackedWriter,
  readStoreFound,
  type StoreFound,
  type StoreHandle,
  type StoreRepair,
  writeStoreBatch,
  writeStoreQuery,
} from '@tessera/native';
import { addon } from './addon.js';
import { awaitNative, callNative, fromNative } from './native-error.js';

export interface StoreEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface KeyRange {
  /** First key of the range. */
  readonly from: Buffer;
  /** First key after it. */
  readonly to: Buffer;
  /** Clamped to 2^32-1. */
  readonly limit: number;
  readonly direction: 'ascending' | 'descending';
}

export interface StoreQuery {
  readonly keys: readonly Buffer[];
  readonly ranges: readonly KeyRange[];
}

/** The findings of a query, as they lie in one piece of memory. */
export class StoreReading {
  private readonly found: StoreFound;

  constructor(words: Uint32Array) {
    this.found = readStoreFound(new PackedReader(words).open(0));
  }

  /** Per key; undefined where it is not there. */
  values(): (Buffer | undefined)[] {
    return this.found.values.map(({ isThere, value }) => (isThere ? value : undefined));
  }

  /** Entries of the range with this index. */
  range(index: number): PackedEntries {
    const range = this.found.ranges[index];
    if (range === undefined) throw new RangeError(`expected a range of the query, got ${index}`);
    return range.entries;
  }

  /** Entries of the range, an object for each. */
  entries(index: number): StoreEntry[] {
    const range = this.range(index);
    const entries: StoreEntry[] = [];
    range.each((keyBegin, valueBegin, valueEnd) => {
      entries.push({
        key: range.bytes.subarray(keyBegin, valueBegin),
        value: range.bytes.subarray(valueBegin, valueEnd),
      });
    });
    return entries;
  }
}

export interface StoreChanges {
  readonly erased: readonly Buffer[];
  /** After what is erased. */
  readonly put: readonly StoreEntry[];
  /**
   * The event that changes survive once `write` has resolved: the end of the process or of the
   * machine.
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

/** Used again by every call: the addon copies what it reads while it is called. */
const out = new PackedWriter();

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
      return { state: health, reason };
    } catch (thrown) {
      return { state: 'down', reason: fromNative(thrown).message };
    }
  }

  /** Goes on writing where that had ended. Rejects with STORE_FULL or STORE_UNAVAILABLE. */
  recover(): Promise<void> {
    return awaitNative(() => addon().storeRecover(this.handle));
  }

  /**
   * Keys and ranges in one call; awaits nothing where all of it is in memory and short. Throws what
   * the promise would reject with.
   */
  read(query: StoreQuery): StoreReading | Promise<StoreReading> {
    const found = callNative(() =>
      addon().storeRead(this.handle, ...out.record(writeStoreQuery, query)),
    );
    if (!(found instanceof Promise)) return new StoreReading(found);
    return awaitNative(() => found).then((words) => new StoreReading(words));
  }

  /** A value per key; undefined where the key is not there. */
  async get(keys: readonly Buffer[]): Promise<readonly (Buffer | undefined)[]> {
    return (await this.read({ keys, ranges: [] })).values();
  }

  async scan(range: KeyRange): Promise<readonly StoreEntry[]> {
    return (await this.read({ keys: [], ranges: [range] })).entries(0);
  }

  /** Counts whole or not at all. */
  async write(changes: StoreChanges): Promise<void> {
    await awaitNative(() =>
      addon().storeWrite(this.handle, ...out.record(writeStoreBatch, changes)),
    );
  }

  /**
   * Rewrites files until no byte of what was erased in the ranges, whose ends lie in them, or of
   * anything that was erased where none are given, is left in one. Takes seconds; others go on.
   */
  async scrub(ranges: readonly Pick<KeyRange, 'from' | 'to'>[]): Promise<void> {
    const whole = ranges.map(({ from, to }) => ({ from, to, limit: 0, direction: 'ascending' }));
    const query = { keys: [], ranges: whole } as StoreQuery;
    await awaitNative(() => addon().storeScrub(this.handle, ...out.record(writeStoreQuery, query)));
  }

  /** Calls under way finish; further ones reject with ENGINE_CLOSED. */
  close(): void {
    callNative(() => addon().storeClose(this.handle));
  }
}

/** The readable part of a damaged store; with `apply` the store is made anew of that. */
export function repairStore(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().storeRepair(path, apply));
}

/** Repairs a catalogue's folder of changes. */
export function repairChanges(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().catalogueRepair(path, apply));
}
