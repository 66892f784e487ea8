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

export interface StoreQuery {
  readonly keys: readonly Uint8Array[];
  readonly ranges: readonly KeyRange[];
}

/** The findings of a query, as they lie in one piece of memory. */
export class StoreReading {
  private readonly words: Uint32Array;
  private readonly bytes: Buffer;
  private readonly keyCount: number;
  private readonly rangeCount: number;
  /** Of the first offset among the words. */
  private readonly first: number;

  constructor({ keys, ranges }: StoreQuery, found: Uint8Array) {
    this.keyCount = keys.length;
    this.rangeCount = ranges.length;
    this.first = keys.length + ranges.length;
    const { buffer, byteOffset, byteLength } = found;
    this.words = new Uint32Array(buffer, byteOffset, byteLength >>> 2);
    const wordCount = this.first + this.stringsBefore(ranges.length) + 1;
    const begin = wordCount * Uint32Array.BYTES_PER_ELEMENT;
    this.bytes = Buffer.from(buffer, byteOffset + begin, byteLength - begin);
  }

  /** Per key; undefined where it is not there. */
  values(): (Buffer | undefined)[] {
    return Array.from({ length: this.keyCount }, (_, i) =>
      this.words[i] === 1 ? this.string(i) : undefined,
    );
  }

  /** Of the range with this index. */
  entries(range: number): StoreEntry[] {
    const before = this.stringsBefore(range);
    return Array.from({ length: this.count(range) }, (_, i) => ({
      key: this.string(before + 2 * i),
      value: this.string(before + 2 * i + 1),
    }));
  }

  /** The same without an object for each; `bytes` has all of them. */
  each(
    range: number,
    visit: (bytes: Buffer, keyBegin: number, valueBegin: number, valueEnd: number) => void,
  ): void {
    let at = this.first + this.stringsBefore(range);
    for (let i = this.count(range); i > 0; i--) {
      const [begin = 0, middle = 0, end = 0] = [
        this.words[at],
        this.words[at + 1],
        this.words[at + 2],
      ];
      visit(this.bytes, begin, middle, end);
      at += 2;
    }
  }

  private count(range: number): number {
    return this.words[this.keyCount + range] ?? 0;
  }

  private stringsBefore(range: number): number {
    let strings = this.keyCount;
    for (let one = 0; one < range && one < this.rangeCount; one++) strings += 2 * this.count(one);
    return strings;
  }

  private string(index: number): Buffer {
    return this.bytes.subarray(this.words[this.first + index], this.words[this.first + index + 1]);
  }
}

export interface StoreChanges {
  readonly erased: readonly Uint8Array[];
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

/** The largest limit; greater ones are clamped to it. */
const UINT32_MAX = 0xffff_ffff;

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
    const { head, bytes } = compileQuery(query);
    const found = callNative(() => addon().storeRead(this.handle, head, bytes));
    if (!(found instanceof Promise)) return new StoreReading(query, found);
    return awaitNative(() => found).then((read) => new StoreReading(query, read));
  }

  /** A value per key; undefined where the key is not there. */
  async get(keys: readonly Uint8Array[]): Promise<readonly (Buffer | undefined)[]> {
    return (await this.read({ keys, ranges: [] })).values();
  }

  async scan(range: KeyRange): Promise<readonly StoreEntry[]> {
    return (await this.read({ keys: [], ranges: [range] })).entries(0);
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
  let end = 0;
  for (let i = 0; i < strings.length; i++) {
    end += (strings[i] as Uint8Array).length;
    offsets[i + 1] = end;
  }
  return { offsets, bytes: Buffer.concat(strings, end) };
}

function compileQuery({ keys, ranges }: StoreQuery) {
  const strings = [...keys];
  for (const { from, to } of ranges) strings.push(from, to);
  const head = new Uint32Array(2 + 2 * ranges.length + strings.length + 1);
  let at = 0;
  head[at++] = keys.length;
  head[at++] = ranges.length;
  for (const { limit, direction } of ranges) {
    head[at++] = Math.min(limit, UINT32_MAX);
    head[at++] = direction === 'descending' ? 1 : 0;
  }
  let end = 0;
  at += 1;
  for (const string of strings) {
    end += string.length;
    head[at++] = end;
  }
  return { head, bytes: Buffer.concat(strings, end) };
}

/** The readable part of a damaged store; with `apply` the store is made anew of that. */
export function repairStore(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().storeRepair(path, apply));
}

/** The same of a folder of changes of a catalogue. */
export function repairChanges(path: string, apply: boolean): Promise<StoreRepair> {
  return awaitNative(() => addon().catalogueRepair(path, apply));
}
