import { TesseraError } from '@tessera/errors';
import { MemoryKvStore } from '@tessera/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChainName } from './domain/kv-store.js';
import { type GuardOptions, guarded } from './guarded-store.js';

const CHAIN: ChainName = { owner: 'a'.repeat(32), version: 'b'.repeat(32) };
const BLOCK = 'c'.repeat(32);
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
const LIMITS = {
  readMs: 50,
  readMostMs: 1000,
  writeMs: 500,
  writeBytesPerSecond: Number.POSITIVE_INFINITY,
};

/** A store that is away, or says nothing, as long as it is told to. */
class FaultyStore extends MemoryKvStore {
  override isCluster: boolean = false;
  state: 'well' | 'away' | 'silent' | 'full' = 'well';
  asked = 0;
  arrived = 0;
  /** Ends of reads. */
  readonly ends: ((bytes: Uint8Array) => void)[] = [];

  override arrivedBytes(): number {
    return this.arrived;
  }

  override read(): Promise<Uint8Array> {
    this.asked += 1;
    return new Promise((resolve) => this.ends.push(resolve));
  }

  override find(chain: ChainName) {
    return this.act(() => super.find(chain));
  }

  override write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    return this.act(() => super.write(chain, block, bytes, erasedUntil));
  }

  override erase(owner: string, at: number) {
    return this.act(() => super.erase(owner, at));
  }

  private act<T>(act: () => Promise<T>): Promise<T> {
    this.asked += 1;
    if (this.state === 'silent') return new Promise(() => undefined);
    if (this.state === 'well') return act();
    const code = this.state === 'full' ? 'STORE_FULL' : 'STORE_UNAVAILABLE';
    return Promise.reject(new TesseraError(code, 'drawn'));
  }
}

function guardedStore(options: Partial<GuardOptions> = {}) {
  const store = new FaultyStore();
  return { store, guard: guarded(store, { ...LIMITS, ...options }) };
}

/** Behind it, what timers have begun in the loop's turns is done. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(0);
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'OK',
    (thrown: unknown) => TesseraError.from(thrown).code,
  );

describe('a guarded store', () => {
  beforeEach(() => {
    // Turns of the loop stay real: an expired timer lets sockets be read once more.
    vi.useFakeTimers({ toFake: [...TIMERS, 'performance', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends a call that the store does not answer, in its time', async () => {
    const { store, guard } = guardedStore();
    store.state = 'silent';
    const code = codeOf(guard.find(CHAIN));
    await vi.advanceTimersByTimeAsync(50);
    expect(await code).toBe('STORE_UNAVAILABLE');
    const late = codeOf(guard.write(CHAIN, BLOCK, new Uint8Array(1), 0));
    await vi.advanceTimersByTimeAsync(500);
    expect(await late).toBe('STORE_UNAVAILABLE');
    expect(guard.readCounts().faults).toEqual({ STORE_UNAVAILABLE: 2 });
  });

  it('refuses at once while the store is away, but for erasures, and finds it again', async () => {
    const { store, guard } = guardedStore();
    const said: boolean[] = [];
    guard.onChange((isOpen) => said.push(isOpen));
    store.state = 'away';
    for (let call = 0; call < 5; call += 1) await codeOf(guard.find(CHAIN));
    expect(store.asked).toBe(3);
    expect(guard.isOpen()).toBe(true);
    expect(guard.readCounts()).toMatchObject({ refused: 2, faults: { STORE_UNAVAILABLE: 5 } });
    expect(await codeOf(guard.erase(CHAIN.owner, 1))).toBe('STORE_UNAVAILABLE');
    expect(store.asked).toBe(4);
    await vi.advanceTimersByTimeAsync(2000);
    expect(said).toEqual([true]);
    store.state = 'well';
    await vi.advanceTimersByTimeAsync(2000);
    expect(said).toEqual([true, false]);
    expect(await codeOf(guard.find(CHAIN))).toBe('OK');
    await guard.close();
  });

  it('does not take what is late for away while bytes come', async () => {
    const { store, guard } = guardedStore();
    store.state = 'silent';
    for (let call = 0; call < 5; call += 1) {
      const code = codeOf(guard.find(CHAIN));
      store.arrived += 1;
      await pass(50);
      expect(await code).toBe('STORE_UNAVAILABLE');
    }
    expect(guard.isOpen()).toBe(false);
    expect(guard.readCounts()).toMatchObject({ refused: 0, faults: { STORE_UNAVAILABLE: 5 } });
  });

  it('gives a read its time anew while bytes come, and none where nothing does', async () => {
    const { store, guard } = guardedStore();
    const bytes = new Uint8Array(5);
    const read = guard.read(CHAIN, BLOCK);
    await pass(0);
    for (let turn = 0; turn < 10; turn += 1) {
      store.arrived += 1;
      await pass(50);
    }
    store.ends[0]?.(bytes);
    expect(await read).toBe(bytes);
    const stuck = codeOf(guard.read(CHAIN, BLOCK));
    await pass(50);
    await pass(50);
    expect(await stuck).toBe('STORE_UNAVAILABLE');
  });

  it('sends as many reads as their bytes allow, and counts no wait for the store', async () => {
    const { store, guard } = guardedStore();
    const large = new Uint8Array(3 * 2 ** 20);
    const reads = Array.from({ length: 5 }, () => guard.read(CHAIN, BLOCK));
    await pass(0);
    for (let ended = 0; ended < 5; ended += 1) {
      expect(store.asked).toBe(Math.min(5, ended + 2));
      store.arrived += 1;
      await pass(40);
      store.ends[ended]?.(large);
      await pass(0);
    }
    const lengths = (await Promise.all(reads)).map((read) => read?.length);
    expect(lengths).toEqual(reads.map(() => large.length));
    expect(guard.readCounts()).toMatchObject({ reads: 5, faults: {} });
  });

  it('ends a read that has no turn in its time, and goes on behind it', async () => {
    const { store, guard } = guardedStore({ readMostMs: 100 });
    const codes = Array.from({ length: 3 }, () => codeOf(guard.read(CHAIN, BLOCK)));
    for (let turn = 0; turn < 4; turn += 1) await pass(50);
    expect(await Promise.all(codes)).toEqual(codes.map(() => 'STORE_UNAVAILABLE'));
    expect(store.asked).toBe(2);
    // Their bytes still flow: only when they have come another one may go.
    const next = guard.read(CHAIN, BLOCK);
    await pass(0);
    expect(store.asked).toBe(2);
    store.ends[0]?.(new Uint8Array(1));
    await pass(0);
    store.ends[2]?.(new Uint8Array(2));
    expect((await next)?.length).toBe(2);
  });

  it('takes a store of several nodes for away only where all seem to be', async () => {
    const { store, guard } = guardedStore();
    store.isCluster = true;
    store.state = 'away';
    for (let call = 0; call < 29; call += 1) await codeOf(guard.find(CHAIN));
    expect(guard.isOpen()).toBe(false);
    await codeOf(guard.find(CHAIN));
    expect(guard.isOpen()).toBe(true);
    await guard.close();
  });

  it('goes on reading a store that takes no writes, and writing one that is full', async () => {
    const { store, guard } = guardedStore();
    store.state = 'full';
    const write = () => codeOf(guard.write(CHAIN, BLOCK, new Uint8Array(1), 0));
    for (let call = 0; call < 5; call += 1) expect(await write()).toBe('STORE_FULL');
    expect(store.asked).toBe(5);
    store.state = 'away';
    for (let call = 0; call < 5; call += 1) await write();
    expect(store.asked).toBe(8);
    store.state = 'well';
    expect(guard.isOpen()).toBe(false);
    expect(await codeOf(guard.find(CHAIN))).toBe('OK');
  });

  it('lets writes wait for their share of bytes and drops none', async () => {
    const { store, guard } = guardedStore({ writeBytesPerSecond: 1000 });
    const bytes = new Uint8Array(500);
    const ends: number[] = [];
    const began = performance.now();
    const write = async (block: string) => {
      await guard.write(CHAIN, block.repeat(32), bytes, 0);
      ends.push(performance.now() - began);
    };
    const all = Promise.all(['1', '2', '3', '4'].map(write));
    await vi.advanceTimersByTimeAsync(2000);
    await all;
    expect(ends.map((ms) => Math.round(ms))).toEqual([0, 0, 500, 1000]);
    expect(guard.readCounts()).toMatchObject({ writes: 4, writtenBytes: 2000 });
    const left = codeOf(guard.write(CHAIN, BLOCK, new Uint8Array(9000), 0));
    await guard.close();
    expect(await left).toBe('STORE_UNAVAILABLE');
    expect(store.asked).toBe(4);
  });

  it('counts what is found, read, missing, changed and erased', async () => {
    const { store, guard } = guardedStore();
    const one = new Uint8Array(10);
    await guard.find(CHAIN);
    await guard.write(CHAIN, BLOCK, one, 0);
    await guard.publish(CHAIN, one, '', [], 0);
    await guard.publish(CHAIN, new Uint8Array(3), '', [], 0);
    await guard.find(CHAIN);
    const blocks = [guard.read(CHAIN, BLOCK), guard.read(CHAIN, CHAIN.owner)];
    await vi.advanceTimersByTimeAsync(0);
    store.ends[0]?.(one);
    store.ends[1]?.(undefined as never);
    await Promise.all(blocks);
    await guard.erase(CHAIN.owner, 5);
    await guard.write(CHAIN, BLOCK, one, 4);
    const kept = { writes: 2, writtenBytes: 20, changed: 1, erased: 1, refused: 0, faults: {} };
    const seen = { finds: 2, found: 1, reads: 1, readBytes: 10, missing: 1 };
    expect(guard.readCounts()).toEqual({ ...kept, ...seen });
  });
});
