import type { ChainName, FoundHead, SharedKvStore } from '@tessera/shared-kv';

interface MemoryChain {
  head: FoundHead | undefined;
  readonly blocks: Map<string, Uint8Array>;
}

/** The rules of a store that all nodes share, in their shortest form. */
export class MemoryKvStore implements SharedKvStore {
  readonly place = 'memory';
  readonly isCluster: boolean = false;
  private readonly owners = new Map<string, Map<string, MemoryChain>>();
  private readonly fences = new Map<string, number>();
  private published = 0;

  arrivedBytes(): number {
    return 0;
  }

  async find({ owner, version }: ChainName): Promise<FoundHead | undefined> {
    return this.owners.get(owner)?.get(version)?.head;
  }

  async read({ owner, version }: ChainName, block: string): Promise<Uint8Array | undefined> {
    return this.owners.get(owner)?.get(version)?.blocks.get(block);
  }

  async write(chain: ChainName, block: string, bytes: Uint8Array, erasedUntil: number) {
    if (this.isErased(chain, erasedUntil)) return 'erased';
    this.chainOf(chain).blocks.set(block, Uint8Array.from(bytes));
    return 'kept';
  }

  async publish(
    chain: ChainName,
    head: Uint8Array,
    replaces: string,
    gone: readonly string[],
    erasedUntil: number,
  ) {
    if (this.isErased(chain, erasedUntil)) return 'erased';
    const there = this.owners.get(chain.owner)?.get(chain.version)?.head;
    const isThere = there !== undefined && Buffer.from(there.head).equals(head);
    if (!isThere && (there?.revision ?? '') !== replaces) return 'changed';
    const kept = this.chainOf(chain);
    if (!isThere) {
      this.published += 1;
      kept.head = { head: Uint8Array.from(head), revision: String(this.published) };
    }
    for (const block of gone) kept.blocks.delete(block);
    return { kept: kept.head?.revision ?? '' };
  }

  async erase(owner: string, at: number): Promise<void> {
    this.owners.delete(owner);
    this.fences.set(owner, Math.max(at, this.fences.get(owner) ?? at));
  }

  async close(): Promise<void> {}

  /** Names of all that is kept, fences included. */
  names(): string[] {
    const chains = [...this.owners].flatMap(([owner, versions]) =>
      [...versions.keys()].map((version) => `${owner}/${version}`),
    );
    return [...chains, ...[...this.fences.keys()].map((owner) => `${owner}/erased`)];
  }

  private isErased({ owner }: ChainName, erasedUntil: number): boolean {
    return (this.fences.get(owner) ?? erasedUntil) > erasedUntil;
  }

  private chainOf({ owner, version }: ChainName): MemoryChain {
    const versions = this.owners.get(owner) ?? new Map<string, MemoryChain>();
    this.owners.set(owner, versions);
    const chain = versions.get(version) ?? { head: undefined, blocks: new Map() };
    versions.set(version, chain);
    return chain;
  }
}
