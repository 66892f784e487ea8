import { BlockPool } from "./block-pool.js";
import { WriteBehind } from "./block-store.js";
import { computeUs, planLoad } from "./load-plan.js";
import { NodeEngine } from "./node-engine.js";
import { Pipe } from "./pipe.js";
/** A node: its engine, its tiers and its ways to the disk and the store. */ export class SimulatedNode {
    name;
    parts;
    engine;
    memory;
    link;
    blockBytes;
    isUp = true;
    disk;
    diskPipe;
    writer;
    constructor(name, parts){
        this.name = name;
        this.parts = parts;
        const { events, costs, sizes, blockTokens, store, windows } = parts;
        this.blockBytes = blockTokens * costs.kvBytesPerToken;
        this.engine = new NodeEngine(events, costs, windows);
        this.memory = new BlockPool(Math.floor(sizes.memoryBytes / this.blockBytes), parts.planned);
        this.disk = new BlockPool(Math.floor(sizes.diskBytes / this.blockBytes));
        this.diskPipe = new Pipe(sizes.diskBytesPerUs);
        this.link = new Pipe(sizes.linkBytesPerUs);
        const budget = new Pipe(sizes.writeBytesPerUs);
        if (store !== undefined) this.writer = new WriteBehind(events, store, budget, this.blockBytes);
    }
    /** A whole prompt may be kept, and yet its last token is computed: the answer needs its row. */ usable({ promptTokens, blocks }) {
        return Math.min(blocks.length, Math.floor((promptTokens - 1) / this.parts.blockTokens));
    }
    /** True where what a node has computed is fetched by all others. */ get sharesStore() {
        return this.writer !== undefined;
    }
    memoryBlocks(asked) {
        const most = this.usable(asked);
        let count = 0;
        while(count < most && this.memory.has(asked.blocks[count]))count += 1;
        return count;
    }
    outlook(asked) {
        const { costs, blockTokens, store, events } = this.parts;
        const most = this.usable(asked);
        const memoryBlocks = this.memoryBlocks(asked);
        const missing = [];
        for(let at = memoryBlocks; at < most; at += 1){
            const block = asked.blocks[at];
            if (this.disk.has(block)) missing.push('disk');
            else if (store?.blocks.has(block)) missing.push('shared');
            else break;
        }
        const backlogUs = this.engine.backlogUs();
        const sharedRate = this.sharedRate();
        const waitUs = Math.max(this.link.waitUs(events.nowUs), store?.out.waitUs(events.nowUs) ?? 0);
        const plan = planLoad({
            memoryTokens: memoryBlocks * blockTokens,
            promptTokens: asked.promptTokens,
            missing,
            blockTokens,
            blockBytes: this.blockBytes,
            hiddenUs: backlogUs,
            queuedBytes: {
                disk: this.diskPipe.waitUs(events.nowUs) * this.diskPipe.bytesPerUs,
                shared: waitUs * sharedRate
            }
        }, {
            bytesPerUs: {
                disk: this.diskPipe.bytesPerUs,
                shared: sharedRate
            },
            tokenUs: costs.tokenUs,
            pairUs: costs.pairUs
        });
        const context = (memoryBlocks + plan.blocks) * blockTokens;
        return {
            memoryBlocks,
            missing,
            plan,
            firstUs: backlogUs + plan.predictedUs,
            computeUs: computeUs(context, asked.promptTokens, costs)
        };
    }
    sharedRate() {
        const { sizes } = this.parts;
        const rates = [
            sizes.sharedBytesPerUs,
            sizes.linkBytesPerUs
        ].filter((rate)=>rate > 0);
        return rates.length === 0 ? 0 : Math.min(...rates);
    }
    /** Begins the loads of a plan. @returns when the last of them is in memory */ load(asked, { memoryBlocks, missing, plan }) {
        const { events, store } = this.parts;
        const loaded = missing.slice(0, plan.blocks);
        const disk = loaded.filter((tier)=>tier === 'disk').length * this.blockBytes;
        const shared = loaded.length * this.blockBytes - disk;
        const { nowUs } = events;
        const known = asked.blocks.slice(0, memoryBlocks + plan.blocks);
        this.disk.touch(known);
        if (shared > 0) store?.blocks.touch(known);
        return Math.max(this.diskPipe.carry(disk, nowUs), this.link.carry(shared, nowUs), store?.out.carry(shared, nowUs) ?? nowUs);
    }
    /** Until a prompt is complete with what is in memory, and so many blocks at least. */ computeUs(asked, blocks) {
        const { blockTokens, costs } = this.parts;
        const context = Math.max(blocks, this.memoryBlocks(asked)) * blockTokens;
        return computeUs(context, asked.promptTokens, costs);
    }
    /** A prompt is complete: its blocks are in memory, and go to disk and store behind it. */ keep({ blocks }) {
        this.memory.touch(blocks);
        if (this.disk.capacity > 0) this.disk.touch(blocks);
        this.writer?.add(blocks);
    }
    /** The node is lost with all it keeps. */ stop() {
        this.isUp = false;
        this.engine.stop();
        this.writer?.stop();
    }
}

//# sourceMappingURL=node.js.map