import { StoreBreaker } from '@tessera/breaker';
import { TesseraError } from '@tessera/errors';
import { Slow, whileMoving, withinMs } from '@tessera/turns';
import { ByteBudget } from './domain/byte-budget.js';
import type { ChainName, FoundHead, SharedKvStore } from './domain/kv-store.js';
import { ReadWindow } from './domain/read-window.js';

export interface GuardOptions {
  /** Milliseconds of a find; of a read, without a byte of the store. */
  readonly readMs: number;
  /** Maximum duration of a read, and before that of its wait for others. */
  readonly readMostMs: number;
  /** Maximum duration of a write and a publish, once their bytes may go. */
  readonly writeMs: number;
  /** Maximum rate of writes and published heads; Infinity: unlimited. */
  readonly writeBytesPerSecond: number;
}

/** Counts since the guard was made. */
export interface GuardCounts {
  finds: number;
  /** Reads that found a head. */
  found: number;
  /** Blocks that came, and their bytes. */
  reads: number;
  readBytes: number;
  /** Blocks that the store did not have. */
  missing: number;
  /** Blocks and heads that were kept, and their bytes. */
  writes: number;
  writtenBytes: number;
  /** Heads that another node had replaced. */
  changed: number;
  /** Writes and heads of owners that were erased. */
  erased: number;
  /** Calls that failed at once, as the store is taken for away. */
  refused: number;
  /** Calls that failed, by code. */
  readonly faults: Record<string, number>;
}

export interface GuardedStore extends SharedKvStore {
  /** True while finds and reads fail at once. */
  isOpen(): boolean;
  /** Why the last calls failed; empty where they did not. */
  reason(): string;
  /** The listener is called with `isOpen` at each change of it. */
  onChange(listener: (isOpen: boolean) => void): void;
  /** A copy. */
  readCounts(): GuardCounts;
}

const NOBODY: ChainName = { owner: '0'.repeat(32), version: '0'.repeat(32) };

/**
 * A store with limits. Each call has its time, and a read has it anew while bytes come; reads go by
 * what their bytes allow, writes wait for their share of bytes a second. After some calls in a row
 * to which no byte came, calls fail at once until a probe finds the store again: what is late is
 * not away. Reads and writes fail apart, as a primary that has become a replica answers the first
 * alone. Erasures are always tried, and take the time that the store's own operations may take.
 */
class LimitedStore implements GuardedStore {
  readonly place: string;
  private readonly counts: GuardCounts = {
    finds: 0,
    found: 0,
    reads: 0,
    readBytes: 0,
    missing: 0,
    writes: 0,
    writtenBytes: 0,
    changed: 0,
    erased: 0,
    refused: 0,
    faults: {},
  };
  private readonly reads: StoreBreaker;
  private readonly writes: StoreBreaker;
  private readonly budget: ByteBudget;
  private readonly window = new ReadWindow();
  private readonly listeners: ((isOpen: boolean) => void)[] = [];
  private wasOpen = false;

  /** @param store is closed with it */
  constructor(
    private readonly store: SharedKvStore,
    private readonly options: GuardOptions,
  ) {
    const { readMs, writeBytesPerSecond } = options;
    const isCluster = () => store.isCluster;
    this.place = store.place;
    this.budget = new ByteBudget(writeBytesPerSecond);
    this.reads = new StoreBreaker(store.place, {
      isCluster,
      probe: () => this.timed(readMs, () => store.find(NOBODY)),
      onChange: (isAway) => this.tell(isAway),
    });
    this.writes = new StoreBreaker(store.place, { isCluster });
  }

  get isCluster(): boolean {
    return this.store.isCluster;
  }

  arrivedBytes(): number {
    return this.store.arrivedBytes();
  }

  isOpen(): boolean {
    return this.reads.read().state === 'down';
  }

  reason(): string {
    return this.reads.read().reason || this.writes.read().reason;
  }

  onChange(listener: (isOpen: boolean) => void): void {
    this.listeners.push(listener);
  }

  async read(chain: ChainName, block: string): Promise<Uint8Array | undefined> {
    const { counts, options } = this;
    const { readMs: stillMs, readMostMs: mostMs } = options;
    if (!(await this.window.enter(mostMs))) {
      return this.counted(() => Promise.reject(this.fault(`no turn within ${mostMs} ms`)));
    }
    let read: Promise<Uint8Array | undefined> | undefined;
    const arrived = () => this.store.arrivedBytes();
    try {
      const bytes = await this.call(this.reads, () => {
        read = this.store.read(chain, block);
        return whileMoving({ stillMs, mostMs }, arrived, read);
      });
      if (bytes === undefined) counts.missing += 1;
      else {
        counts.reads += 1;
        counts.readBytes += bytes.length;
      }
      return bytes;
    } finally {
      // Its bytes flow on where it was given up.
      const leave = (bytes?: Uint8Array) => this.window.leave(bytes?.length);
      if (read === undefined) leave();
      else read.then(leave, () => leave());
    }
  }

  find(chain: ChainName): Promise<FoundHead | undefined> {
    const { counts, options } = this;
    return this.call(this.reads, () =>
      this.timed(options.readMs, async () => {
        counts.finds += 1;
        const head = await this.store.find(chain);
        if (head !== undefined) counts.found += 1;
        return head;
      }),
    );
  }

  write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    return this.afford(bytes, () => this.store.write(chain, block, bytes, erasedUntil));
  }

  publish(
    chain: ChainName,
    head: Uint8Array,
    replaces: string,
    gone: readonly string[],
    erasedUntil: number,
  ) {
    return this.afford(head, () => this.store.publish(chain, head, replaces, gone, erasedUntil));
  }

  erase(owner: string, at: number): Promise<void> {
    return this.counted(() => this.store.erase(owner, at));
  }

  readCounts(): GuardCounts {
    return { ...this.counts, faults: { ...this.counts.faults } };
  }

  async close(): Promise<void> {
    this.budget.close();
    this.reads.close();
    await this.store.close();
  }

  private tell(isOpen: boolean): void {
    if (isOpen === this.wasOpen) return;
    this.wasOpen = isOpen;
    for (const listener of this.listeners) listener(isOpen);
  }

  /** Sends bytes when they may go. */
  private async afford<Kept extends 'kept' | 'changed' | 'erased' | { readonly kept: string }>(
    bytes: Uint8Array,
    act: () => Promise<Kept>,
  ): Promise<Kept> {
    const { counts, options } = this;
    // No share for what fails at once.
    if (this.writes.read().state === 'ok' && !(await this.budget.take(bytes.length))) {
      throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: the store is closed`);
    }
    const outcome = await this.call(this.writes, () => this.timed(options.writeMs, act));
    if (outcome === 'changed') counts.changed += 1;
    else if (outcome === 'erased') counts.erased += 1;
    else {
      counts.writes += 1;
      counts.writtenBytes += bytes.length;
    }
    return outcome;
  }

  /** Rejects as the act does; one that is only slow does not count as a store that is away. */
  private async call<T>(breaker: StoreBreaker, act: () => Promise<T>): Promise<T> {
    let isTried = false;
    const tried = async () => {
      isTried = true;
      try {
        return { answer: await act() };
      } catch (thrown) {
        if (thrown instanceof Slow) return { slow: thrown };
        throw thrown instanceof TesseraError ? thrown : this.fault((thrown as Error).message);
      }
    };
    return this.counted(async () => {
      const { answer, slow } = await breaker.call<{ answer?: T; slow?: Slow }>(tried);
      if (slow !== undefined) throw this.fault(slow.message);
      return answer as T;
    }).catch((thrown) => {
      if (!isTried) this.counts.refused += 1;
      throw thrown;
    });
  }

  private async counted<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (thrown) {
      const { faults } = this.counts;
      const { code } = TesseraError.from(thrown);
      faults[code] = (faults[code] ?? 0) + 1;
      throw thrown;
    }
  }

  private fault(text: string): TesseraError {
    return new TesseraError('STORE_UNAVAILABLE', `${this.place}: ${text}`);
  }

  /**
   * Runs an act with a limit that is renewed while bytes of other calls arrive: slow is not away.
   */
  private async timed<T>(limitMs: number, act: () => Promise<T>): Promise<T> {
    const arrived = this.store.arrivedBytes();
    let hasSettled = false;
    const work = act().finally(() => {
      hasSettled = true;
    });
    try {
      return await withinMs(limitMs, work);
    } catch (thrown) {
      if (hasSettled) throw thrown;
      const { message } = thrown as Error;
      throw this.store.arrivedBytes() === arrived ? this.fault(message) : new Slow(message);
    }
  }
}

/** A store with limits of time and of bytes a second, and a circuit breaker. */
export function guarded(store: SharedKvStore, options: GuardOptions): GuardedStore {
  return new LimitedStore(store, options);
}
