import { BlockPool } from './block-pool.js';
import type { EventQueue } from './event-queue.js';
import { Pipe } from './pipe.js';

/** A store that all nodes share. Bandwidths are of the store; each node has its own beside. */
export class SharedStore {
  readonly blocks: BlockPool;
  readonly out: Pipe;
  readonly into: Pipe;

  constructor(capacityBlocks: number, bytesPerUs: number) {
    this.blocks = new BlockPool(capacityBlocks);
    this.out = new Pipe(bytesPerUs);
    this.into = new Pipe(bytesPerUs);
  }
}

/**
 * Blocks on their way from one node to the store, the newest chain first, within the node's budget.
 * Beyond its bound the oldest are dropped: the store is a cache.
 */
export class WriteBehind {
  private readonly chains: (readonly number[])[] = [];
  private isWriting = false;
  private isStopped = false;
  dropped = 0;

  constructor(
    private readonly events: EventQueue,
    private readonly store: SharedStore,
    private readonly budget: Pipe,
    private readonly blockBytes: number,
    private readonly chainsMax = 256,
  ) {}

  add(chain: readonly number[]): void {
    this.chains.push(chain);
    if (this.chains.length > this.chainsMax) {
      this.chains.shift();
      this.dropped += 1;
    }
    this.writeNext();
  }

  stop(): void {
    this.isStopped = true;
    this.chains.length = 0;
  }

  private writeNext(): void {
    if (this.isWriting) return;
    const chain = this.chains.pop();
    if (chain === undefined) return;
    const { store, events } = this;
    const missing = chain.filter((block) => !store.blocks.has(block)).length;
    const bytes = missing * this.blockBytes;
    const { nowUs } = events;
    const endUs = Math.max(store.into.carry(bytes, nowUs), this.budget.carry(bytes, nowUs));
    this.isWriting = true;
    events.at(endUs, () => {
      this.isWriting = false;
      if (this.isStopped) return;
      store.blocks.touch(chain);
      this.writeNext();
    });
  }
}
