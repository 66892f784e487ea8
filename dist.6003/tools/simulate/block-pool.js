/**
 * Blocks of one tier, bounded, the least recently used first to go. A chain is touched from its
 * tail to its head, so that its last block goes before those it builds on: what is kept of a chain
 * is a prefix of it (docs/internals/kv-pool.md).
 */ export class BlockPool {
    capacity;
    pinned;
    /** In the order of their last use. */ kept = new Map();
    evicted = 0;
    /** `pinned`: blocks of a plan, which are always there and take their part of the capacity. */ constructor(capacity, pinned = new Set()){
        this.capacity = capacity;
        this.pinned = pinned;
    }
    get size() {
        return this.kept.size;
    }
    has(block) {
        return this.pinned.has(block) || this.kept.has(block);
    }
    /** The first `count` blocks of a chain are used, or come in. */ touch(chain, count = chain.length) {
        const capacity = Math.max(0, this.capacity - this.pinned.size);
        for(let at = Math.min(count, chain.length) - 1; at >= 0; at -= 1){
            const block = chain[at];
            if (this.pinned.has(block)) continue;
            this.kept.delete(block);
            this.kept.set(block, true);
        }
        while(this.kept.size > capacity)this.evict();
    }
    evict() {
        const [oldest] = this.kept.keys();
        if (oldest === undefined) return;
        this.kept.delete(oldest);
        this.evicted += 1;
    }
}

//# sourceMappingURL=block-pool.js.map