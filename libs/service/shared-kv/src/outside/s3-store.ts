import { setTimeout as pause } from 'node:timers/promises';
import type { BucketSettings } from '@tessera/buckets';
import { TesseraError } from '@tessera/errors';
import pMap from 'p-map';
import type { ChainName, FoundHead, SharedKvStore } from '../domain/kv-store.js';
import type { StoreAddress } from '../domain/store-address.js';
import { checkChain, checkName, checkPrefix } from '../domain/store-names.js';
import { S3Objects } from './s3-objects.js';

export interface S3StoreOptions {
  readonly address: Extract<StoreAddress, { kind: 's3' }>;
  readonly s3: BucketSettings;
  /** Deployments of one bucket differ by it. */
  readonly prefix: string;
  /** Time limit of one operation of the bucket. */
  readonly timeoutMs: number;
  /**
   * An erasure looks again after so many milliseconds for what a writer has left that died
   * meanwhile; left out: what one operation and a fence that is known may take.
   */
  readonly settleMs?: number;
  /** Field of the configuration, for messages. */
  readonly field: string;
}

/** A fence that was read so long ago is read again. */
const FENCE_MS = 1000;
const FENCES_MAX = 4096;
const NEVER_ERASED = -1;
const REMOVED_AT_ONCE = 16;

/**
 * A store in a bucket: `PREFIX/OWNER/VERSION/head`, `PREFIX/OWNER/VERSION/b/BLOCK`, and the fence
 * `PREFIX/OWNER/erased` (the offset of the newest erasure as text). A revision is an ETag; equal
 * heads have the same. The time to live is the bucket's lifecycle.
 *
 * No operation of a bucket covers two objects. So a writer reads the fence before and after, and
 * takes back what it wrote where an erasure came between; and an erasure looks again for what a
 * writer that died meanwhile has left, after the time that one operation may take.
 */
export class S3SharedStore implements SharedKvStore {
  readonly place: string;
  readonly isCluster = false;
  private readonly objects: S3Objects;
  private readonly root: string;
  private readonly fences = new Map<string, { readonly at: number; readonly readMs: number }>();
  private readonly closing = new AbortController();

  /** Asks nothing yet. @throws TesseraError CONFIG_INVALID */
  constructor(private readonly options: S3StoreOptions) {
    const { address, prefix, field, s3, timeoutMs } = options;
    checkPrefix(field, prefix);
    this.root = `${address.prefix}${prefix}/`;
    this.place = `s3://${address.bucket}/${this.root}`;
    const probeKey = `${this.root}conditions`;
    this.objects = new S3Objects(this.place, address.bucket, probeKey, s3, timeoutMs);
  }

  arrivedBytes(): number {
    return this.objects.arrived;
  }

  async find(chain: ChainName): Promise<FoundHead | undefined> {
    checkChain(chain);
    const found = await this.objects.get(`${this.below(chain)}head`);
    return found && { head: found.bytes, revision: found.revision };
  }

  async read(chain: ChainName, block: string): Promise<Uint8Array | undefined> {
    checkChain(chain);
    checkName('block', block);
    return (await this.objects.get(`${this.below(chain)}b/${block}`))?.bytes;
  }

  async write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    checkChain(chain);
    checkName('block', block);
    const { owner } = chain;
    if ((await this.fence(owner, FENCE_MS)) > erasedUntil) return 'erased';
    const key = `${this.below(chain)}b/${block}`;
    await this.objects.put(key, bytes);
    if ((await this.fence(owner, 0)) <= erasedUntil) return 'kept';
    await this.objects.remove(key);
    return 'erased';
  }

  async publish(
    chain: ChainName,
    head: Uint8Array,
    replaces: string,
    gone: readonly string[],
    erasedUntil: number,
  ) {
    checkChain(chain);
    for (const block of gone) checkName('gone', block);
    const { owner } = chain;
    if ((await this.fence(owner, FENCE_MS)) > erasedUntil) return 'erased';
    const key = `${this.below(chain)}head`;
    const kept =
      (await this.objects.put(key, head, { revision: replaces })) ??
      (await this.revisionOf(key, head));
    const isErased = (await this.fence(owner, 0)) > erasedUntil;
    if (kept === undefined) return isErased ? 'erased' : 'changed';
    if (isErased) {
      // Somebody who knows of the erasure may have published since.
      await this.objects.remove(key, { revision: kept });
      return 'erased';
    }
    await this.removeAll(gone.map((block) => `${this.below(chain)}b/${block}`));
    return { kept };
  }

  async erase(owner: string, at: number): Promise<void> {
    checkName('owner', owner);
    await this.raiseFence(owner, at);
    await this.removeOf(owner);
    const { timeoutMs, settleMs = timeoutMs + FENCE_MS } = this.options;
    await pause(settleMs, undefined, { signal: this.closing.signal }).catch(() => {
      throw this.fault('the store is closed');
    });
    await this.removeOf(owner);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.objects.close();
  }

  private below({ owner, version }: ChainName): string {
    return `${this.root}${owner}/${version}/`;
  }

  private fenceKey(owner: string): string {
    return `${this.root}${owner}/erased`;
  }

  /** The revision of a head that is there as it was to be put: the put was made twice. */
  private async revisionOf(key: string, head: Uint8Array): Promise<string | undefined> {
    const there = await this.objects.get(key);
    return there?.bytes.equals(head) ? there.revision : undefined;
  }

  /** Offset of the newest erasure of the owner, as the bucket had it `ageMs` ago at most. */
  private async fence(owner: string, ageMs: number): Promise<number> {
    const known = this.fences.get(owner);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.readMs < ageMs) return known.at;
    const { at } = await this.readFence(owner);
    const [oldest] = this.fences.keys();
    if (this.fences.size >= FENCES_MAX && oldest !== undefined) this.fences.delete(oldest);
    this.fences.delete(owner);
    this.fences.set(owner, { at, readMs: nowMs });
    return at;
  }

  private async readFence(owner: string) {
    const found = await this.objects.get(this.fenceKey(owner));
    if (found === undefined) return { at: NEVER_ERASED, revision: '' };
    const text = found.bytes.subarray(0, 100).toString();
    if (!/^\d+$/.test(text)) throw this.fault(`${owner}/erased: expected an offset, got ${text}`);
    return { at: Number(text), revision: found.revision };
  }

  /** Two erasures may come at once: the later one stays. */
  private async raiseFence(owner: string, at: number): Promise<void> {
    const key = this.fenceKey(owner);
    const bytes = Buffer.from(String(at));
    for (;;) {
      const { at: there, revision } = await this.readFence(owner);
      if (there >= at) return;
      if ((await this.objects.put(key, bytes, { revision })) !== undefined) return;
    }
  }

  private async removeOf(owner: string): Promise<void> {
    const fenceKey = this.fenceKey(owner);
    for await (const keys of this.objects.keysBelow(`${this.root}${owner}/`)) {
      await this.removeAll(keys.filter((key) => key !== fenceKey));
    }
  }

  private async removeAll(keys: readonly string[]): Promise<void> {
    await pMap(keys, (key) => this.objects.remove(key), { concurrency: REMOVED_AT_ONCE });
  }

  private fault(text: string): TesseraError {
    return new TesseraError('STORE_UNAVAILABLE', `${this.place}: ${text}`);
  }
}
