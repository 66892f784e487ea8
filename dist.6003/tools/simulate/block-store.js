import { BlockPool } from "./block-pool.js";
import { Pipe } from "./pipe.js";
/** A store that all nodes share. Bandwidths are of the store; each node has its own beside. */ export class SharedStore {
    blocks;
    out;
    into;
    constructor(capacityBlocks, bytesPerUs){
        this.blocks = new BlockPool(capacityBlocks);
        this.out = new Pipe(bytesPerUs);
        this.into = new Pipe(bytesPerUs);
    }
}
/**
 * Blocks on their way from one node to the store, the newest chain first, within the node's budget.
 * Beyond its bound the oldest are dropped: the store is a cache.
 */ export class WriteBehind {
    events;
    store;
    budget;
    blockBytes;
    chainsMax;
    chains = [];
    isWriting = false;
    isStopped = false;
    dropped = 0;
    constructor(events, store, budget, blockBytes, chainsMax = 256){
        this.events = events;
        this.store = store;
        this.budget = budget;
        this.blockBytes = blockBytes;
        this.chainsMax = chainsMax;
    }
    add(chain) {
        this.chains.push(chain);
        if (this.chains.length > this.chainsMax) {
            this.chains.shift();
            this.dropped += 1;
        }
        this.writeNext();
    }
    stop() {
        this.isStopped = true;
        this.chains.length = 0;
    }
    writeNext() {
        if (this.isWriting) return;
        const chain = this.chains.pop();
        if (chain === undefined) return;
        const { store, events } = this;
        const missing = chain.filter((block)=>!store.blocks.has(block)).length;
        const bytes = missing * this.blockBytes;
        const { nowUs } = events;
        const endUs = Math.max(store.into.carry(bytes, nowUs), this.budget.carry(bytes, nowUs));
        this.isWriting = true;
        events.at(endUs, ()=>{
            this.isWriting = false;
            if (this.isStopped) return;
            store.blocks.touch(chain);
            this.writeNext();
        });
    }
}

//# sourceMappingURL=block-store.js.map