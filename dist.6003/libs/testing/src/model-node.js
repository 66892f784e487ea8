/** A node whose state is a list of words, for tests of what follows a log. */ import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { positionOf } from "../../ops/contracts/src/index.js";
import { PendingErasures } from "../../service/erasure/src/index.js";
import { TesseraError } from "../../ops/errors/src/index.js";
import { BEGINS, Follower, History, Life, NodeErasures, Publication, REFUSE, ReplicatedState, SNAPSHOT, Submissions, startOf } from "../../cluster/node/src/index.js";
import { MemoryEntryStore, MemoryLog } from "./memory-log.js";
/** State that outlives a process: the words, and the mark kept with them. */ export class ModelDisk {
    words = [];
    recalled = [];
    mark = '';
    /** An entry fails with it while it is set. */ failing;
    /** Users whose erasure each store has done, in order. */ erased = {
        behaviours: [],
        records: [],
        pool: []
    };
    /** Stores that are away. */ away = new Set();
    pendingFolder = mkdtempSync(join(tmpdir(), 'model-node-'));
}
function wordsPart(disk) {
    const wordOf = ({ body })=>body.word;
    return {
        name: 'words',
        kinds: [
            'add'
        ],
        recall: (act)=>disk.recalled.push(wordOf(act)),
        apply: async (act, _, mark)=>{
            const word = wordOf(act);
            if (disk.failing !== undefined) throw disk.failing;
            if (word === 'bad') throw new TesseraError('REQUEST_INVALID', 'word: expected another');
            disk.words.push(word);
            disk.mark = mark;
            return {
                value: disk.words.length,
                isMarked: true
            };
        },
        digest: async ()=>disk.words
    };
}
/** Entries about the log itself. */ const others = {
    name: 'others',
    kinds: [
        BEGINS,
        SNAPSHOT,
        REFUSE
    ],
    apply: async ()=>({
            value: undefined,
            isMarked: false
        }),
    digest: async ()=>''
};
function eventualOf(disk) {
    const part = (name)=>({
            name,
            erase: async ({ userId })=>{
                if (disk.away.has(name)) throw new TesseraError('STORE_UNAVAILABLE', 'it is away');
                disk.erased[name]?.push(userId);
                return {
                    known: true,
                    recalls: 1
                };
            }
        });
    return {
        behaviours: part('behaviours'),
        records: part('records'),
        pool: part('pool')
    };
}
/** One process of a node over a log. */ export class ModelNode {
    log;
    disk;
    store;
    life = new Life();
    history;
    erasures;
    publication;
    follower;
    submissions;
    constructor(state, options, pending){
        const { node = 'a', leaseMs = 60_000, behindEntries = 1000, behindMs = 0 } = options;
        const log = new MemoryLog(state, leaseMs);
        const { disk = new ModelDisk(), store = new MemoryEntryStore() } = options;
        const note = async (mark)=>{
            disk.mark = mark;
        };
        const keeper = {
            mark: ()=>disk.mark,
            note
        };
        const nodeLog = {
            info: ()=>undefined,
            warn: ()=>undefined,
            error: ()=>undefined
        };
        this.log = log;
        this.disk = disk;
        this.store = store;
        this.erasures = new NodeErasures(pending, eventualOf(disk), nodeLog);
        const parts = [
            wordsPart(disk),
            others,
            this.erasures.part
        ];
        const replicated = new ReplicatedState(keeper, parts);
        this.history = new History(positionOf(disk.mark) ?? startOf(state.identity), log.place);
        const { life, history } = this;
        this.publication = new Publication({
            log,
            node,
            state: replicated,
            history,
            life,
            leaseMs,
            erasedUpTo: (offset)=>this.erasures.upTo(offset),
            onBounds: (bounds)=>this.follower.noteBounds(bounds)
        });
        const own = {
            log,
            store,
            history,
            life,
            publication: this.publication
        };
        this.follower = new Follower({
            ...own,
            state: replicated,
            behindEntries,
            behindMs,
            nodeLog: nodeLog
        });
        this.submissions = new Submissions({
            ...own,
            node,
            follower: this.follower,
            leaseMs
        });
        this.erasures.onDone = ()=>void this.publication.noteErased().catch(()=>undefined);
    }
    /** A process over a disk, which follows nothing yet. */ static async opened(state, options = {}) {
        const { disk = new ModelDisk() } = options;
        state.identity ||= 'log-1';
        const pending = await PendingErasures.open(disk.pendingFolder);
        return new ModelNode(state, {
            ...options,
            disk
        }, pending);
    }
    /** Another process over the same disk. */ static async serving(state, options = {}) {
        const node = await ModelNode.opened(state, options);
        await node.catchUp();
        await node.serve();
        return node;
    }
    async catchUp() {
        this.life.to('catching up');
        this.erasures.start();
        await this.follower.catchUp();
    }
    /** @throws TesseraError the fault that it has */ async serve() {
        this.life.checkFollowing();
        await this.publication.open();
        this.life.to('serving');
    }
    async erase(userId, signal = AbortSignal.timeout(60_000)) {
        const body = {
            userId,
            withBehaviours: true,
            withRecords: true
        };
        const how = {
            signal,
            waitFor: 'applied-here'
        };
        const { offset } = await this.submissions.submit({
            kind: 'erase',
            body
        }, how);
        const outcome = await this.erasures.outcome(offset, signal);
        await this.submissions.everywhere(offset, signal, true);
        return outcome;
    }
    async close() {
        await this.erasures.close();
        await this.follower.close();
        await this.publication.close();
        await this.log.close();
    }
}

//# sourceMappingURL=model-node.js.map