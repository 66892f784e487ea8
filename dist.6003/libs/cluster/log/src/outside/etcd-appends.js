import { randomUUID } from "node:crypto";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { NO_OFFSET } from "../domain/cluster-log.js";
import { chained } from "../domain/entries.js";
import { baseOf, headOf, linkBytes, linkOf, recordBytes } from "../domain/etcd-records.js";
/** Of one transaction: etcd takes 1.5 MiB and 128 steps at most. */ const BATCH_BYTES_MAX = 1 << 20;
const BATCH_ENTRIES_MAX = 100;
/** Others that append at once move the head: each refusal says where it is. */ const ATTEMPTS_MAX = 64;
/** Appends of this process to a log in etcd, one transaction at a time, each of all that wait. */ export class EtcdAppends {
    nodeKey;
    keys;
    place;
    waiting = [];
    isRunning = false;
    /** As it was seen last; undefined: it has to be read. */ head;
    constructor(nodeKey, keys, place){
        this.nodeKey = nodeKey;
        this.keys = keys;
        this.place = place;
    }
    append(bytes, after) {
        return new Promise((resolve, reject)=>{
            this.waiting.push({
                bytes,
                after,
                resolve,
                reject
            });
            if (!this.isRunning) void this.run();
        });
    }
    async run() {
        this.isRunning = true;
        while(this.waiting.length > 0){
            const batch = this.batch();
            try {
                await this.commit(batch);
            } catch (thrown) {
                for (const { reject } of batch)reject(thrown);
            }
        }
        this.isRunning = false;
    }
    batch() {
        let bytes = 0;
        const fits = (one, at)=>{
            bytes += one.bytes.length;
            return at === 0 || at < BATCH_ENTRIES_MAX && bytes <= BATCH_BYTES_MAX;
        };
        const end = this.waiting.findIndex((one, at)=>!fits(one, at));
        return this.waiting.splice(0, end === -1 ? this.waiting.length : end);
    }
    async commit(batch) {
        for(let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1){
            await this.nodeKey.hold();
            const seen = this.head;
            const head = seen ?? await this.readHead();
            const wrong = await this.thoseOfAnother(batch, head);
            // As it was seen last, it may be shorter than it is.
            if (wrong.size > 0 && seen !== undefined) {
                this.head = undefined;
                continue;
            }
            for (const [{ after, reject }, chain] of wrong)reject(this.different(after, head, chain));
            const going = batch.filter((one)=>!wrong.has(one));
            if (going.length === 0 || await this.put(going, head)) return;
        }
        const message = `${this.place}: expected to append, got ${ATTEMPTS_MAX} others before`;
        throw new TesseraError('STORE_UNAVAILABLE', message);
    }
    /** False: the head has moved, or the node has lost its key. */ async put(batch, head) {
        const { keys, nodeKey } = this;
        const atMs = Math.max(nodeKey.etcd.nowMs, head.atMs);
        let { offset, chain } = head;
        const puts = batch.map(({ bytes })=>{
            offset += 1;
            chain = chained(chain, bytes);
            return {
                put: keys.entry(offset),
                value: linkBytes(atMs, chain, bytes)
            };
        });
        const by = randomUUID();
        const next = Object.assign({}, head, {
            offset,
            chain,
            atMs,
            by
        });
        puts.push({
            put: keys.head,
            value: recordBytes(next)
        });
        const conditions = [
            {
                key: keys.head,
                value: recordBytes(head)
            },
            nodeKey.condition
        ];
        const otherwise = [
            {
                get: keys.head
            },
            {
                get: nodeKey.key
            }
        ];
        this.head = undefined;
        const { holds, found } = await nodeKey.etcd.transact(conditions, {
            where: puts,
            otherwise
        });
        const [there, own] = found.map(([entry])=>entry);
        const now = holds ? next : there && headOf(there.value);
        // Two members may get the request: the second finds the entries of the first.
        if (!holds && now?.by !== by) {
            if (own?.created !== nodeKey.condition.created) nodeKey.lost();
            this.head = now;
            return false;
        }
        this.head = next;
        for (const [at, { resolve }] of batch.entries())resolve(head.offset + 1 + at);
        return true;
    }
    async readHead() {
        const get = {
            get: this.keys.head
        };
        const { found } = await this.nodeKey.etcd.transact([], {
            where: [
                get
            ]
        });
        const entry = found[0]?.[0];
        if (entry !== undefined) return headOf(entry.value);
        const message = `${this.place}: expected a log that somebody has begun, got none`;
        throw new TesseraError('LOG_DIFFERENT', message);
    }
    /** Those whose appender has applied another history, with the chain that the log has there. */ async thoseOfAnother(batch, head) {
        const wrong = new Map();
        const chains = new Map();
        for (const one of batch){
            const { offset, chain } = one.after;
            if (!chains.has(offset)) chains.set(offset, await this.chainAt(offset, head));
            const found = chains.get(offset);
            // Of a position that an earlier release has written the offset alone is known.
            const isKnown = found !== undefined && (found === '' || chain !== '');
            if (isKnown && found !== chain) wrong.set(one, found);
        }
        return wrong;
    }
    /** '' behind the end of the log; undefined where the server does not know any more. */ async chainAt(offset, head) {
        if (offset > head.offset) return '';
        if (offset === head.offset) return head.chain;
        if (offset === NO_OFFSET) return head.identity;
        const gets = [
            {
                get: this.keys.entry(offset)
            },
            {
                get: this.keys.base
            }
        ];
        const { found } = await this.nodeKey.etcd.transact([], {
            where: gets
        });
        const [entry, base] = found.map(([one])=>one?.value);
        if (entry !== undefined) return linkOf(offset, entry).chain;
        const trimmed = base && baseOf(base);
        return trimmed?.offset === offset ? trimmed.chain : undefined;
    }
    different(after, { offset }, got) {
        const expected = `expected entry ${after.offset} with digest ${after.chain}, applied here`;
        const found = got === '' ? `entries up to ${offset}` : `one with digest ${got}`;
        return new TesseraError('LOG_DIFFERENT', `${this.place}: ${expected}, got ${found}`);
    }
}

//# sourceMappingURL=etcd-appends.js.map