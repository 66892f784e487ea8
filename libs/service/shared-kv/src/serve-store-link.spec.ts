import { TesseraError } from '@tessera/errors';
import { FakeStoreLink, MemoryKvStore, seededRandom } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import type { ChainName } from './domain/kv-store.js';
import { serveStoreLink } from './domain/serve-store-link.js';

const OPTIONS = { eraseMs: 60_000, pauseMs: [0, 1] as const };
const hex = (n: number) => n.toString(16).padStart(32, '0');

/** Of some calls the store fails, throws at once, or answers late. */
class DrawnStore extends MemoryKvStore {
  constructor(
    private readonly random: () => number,
    private readonly faults: number,
  ) {
    super();
  }

  override find(chain: ChainName) {
    return this.drawn(() => super.find(chain));
  }

  override read(chain: ChainName, block: string) {
    return this.drawn(() => super.read(chain, block));
  }

  override write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    return this.drawn(() => super.write(chain, block, bytes, erasedUntil));
  }

  override publish(...words: Parameters<MemoryKvStore['publish']>) {
    return this.drawn(() => super.publish(...words));
  }

  override erase(owner: string, at: number) {
    return this.drawn(() => super.erase(owner, at));
  }

  private drawn<T>(act: () => Promise<T>): Promise<T> {
    const draw = this.random();
    const fault = new TesseraError('STORE_UNAVAILABLE', 'drawn');
    if (draw < this.faults / 2) throw fault;
    if (draw < this.faults) return Promise.reject(fault);
    if (draw > 0.8) return new Promise<void>((resolve) => setImmediate(resolve)).then(act);
    return act();
  }
}

describe('a served link', () => {
  it('answers each kind of call', async () => {
    const link = new FakeStoreLink();
    const served = serveStoreLink(link, new MemoryKvStore(), OPTIONS);
    const chain = { owner: hex(1), version: hex(2) };
    const bytes = Buffer.from('block');
    expect(await link.call({ kind: 'find', ...chain })).toEqual({ status: 'missing' });
    expect(await link.call({ kind: 'write', ...chain, block: hex(3) }, bytes)).toEqual({
      status: 'ok',
    });
    const read = await link.call({ kind: 'read', ...chain, block: hex(3) });
    expect(read).toMatchObject({ status: 'ok', bytes: new Uint8Array(bytes) });
    const kept = await link.call({ kind: 'publish', ...chain }, bytes);
    expect(kept).toMatchObject({ status: 'ok', text: expect.stringMatching(/./) });
    expect(await link.call({ kind: 'publish', ...chain }, Buffer.from('x'))).toEqual({
      status: 'changed',
    });
    const found = await link.call({ kind: 'find', ...chain });
    expect(found).toMatchObject({ status: 'ok', text: kept.text });
    expect(await link.call({ kind: 'write', ...chain, block: hex(3) })).toMatchObject({
      status: 'failed',
    });
    served.close();
  });

  it('writes as a process that has applied what it was told of', async () => {
    const link = new FakeStoreLink();
    const served = serveStoreLink(link, new MemoryKvStore(), OPTIONS);
    const write = () =>
      link.call({ kind: 'write', owner: hex(1), version: hex(2), block: hex(3) }, Buffer.from('b'));
    await link.call({ kind: 'erase', owner: hex(1), at: 4 });
    expect(await write()).toEqual({ status: 'erased' });
    served.setErasedUntil(4);
    served.setErasedUntil(3);
    expect(await write()).toEqual({ status: 'ok' });
  });

  it('ends every call once, and erasures when they hold, whatever the store does', async () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = seededRandom(seed);
      const store = new DrawnStore(random, 0.3);
      const link = new FakeStoreLink();
      const served = serveStoreLink(link, store, OPTIONS);
      const kinds = ['find', 'read', 'write', 'publish', 'erase'] as const;
      const pick = (count: number) => Math.floor(random() * count);
      const calls = Array.from({ length: 100 }, (_, at) => {
        const kind = kinds[pick(kinds.length)] as (typeof kinds)[number];
        const names = { owner: hex(pick(3)), version: hex(9), block: hex(pick(4)) };
        const bytes = random() < 0.9 ? Buffer.from([at]) : undefined;
        return link.call({ kind, ...names, at }, bytes);
      });
      const ends = await Promise.all(calls);
      expect(ends, `seed ${seed}`).toHaveLength(100);
      expect(link.endedTwice, `seed ${seed}`).toEqual([]);
      for (const [at, { status }] of ends.entries()) {
        if (link.kindOf(at) === 'erase') expect(status, `seed ${seed}, call ${at}`).toBe('ok');
      }
      await served.ended();
    }
  });

  it('gives an erasure up at its limit, and when it is closed', async () => {
    const link = new FakeStoreLink();
    const store = new DrawnStore(() => 0.1, 1);
    const short = serveStoreLink(link, store, { ...OPTIONS, eraseMs: 3 });
    const failed = { status: 'failed', text: expect.stringContaining('STORE_UNAVAILABLE') };
    expect(await link.call({ kind: 'erase', owner: hex(1), at: 1 })).toMatchObject(failed);
    short.close();
    const other = new FakeStoreLink();
    const long = serveStoreLink(other, store, { eraseMs: 1e9, pauseMs: [1e8, 1e8] });
    const end = other.call({ kind: 'erase', owner: hex(1), at: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    long.close();
    expect(await end).toMatchObject(failed);
    await long.ended();
  });
});
