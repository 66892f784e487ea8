import { setTimeout as pause } from "node:timers/promises";
import { expecting } from "../../../../ops/errors/src/index.js";
import { withinMs } from "../../../../ops/turns/src/index.js";
import { LEASE_MS } from "../domain/cluster-log.js";
import { KafkaSender } from "./kafka-sender.js";
import { KafkaTopic } from "./kafka-topic.js";
const invalid = expecting('CONFIG_INVALID');
const DIGESTS_KEPT = 4096;
const FOLLOW_AGAIN_MS = 1000;
const FOLLOW_TIMEOUT_MS = 9000;
/**
 * Positions of nodes beside the log, in a compacted topic that every process reads as a whole.
 * Keys: `IDENTITY/node/NAME`, `IDENTITY/digest/OFFSET`; a log that was made anew has others.
 */ export class KafkaWords {
    link;
    topic;
    sender;
    /** By key. */ said = new Map();
    digests = new Map();
    next = 0;
    /** The newest time of the broker, and when it was heard, in milliseconds of this process. */ clock = {
        atMs: 0,
        heardMs: 0
    };
    following;
    /** Keys that this process has said something under. */ owned = new Set();
    closing = new AbortController();
    waiting = [];
    constructor(link, name){
        this.link = link;
        const settings = {
            'cleanup.policy': 'compact',
            'message.timestamp.type': 'LogAppendTime'
        };
        this.topic = new KafkaTopic(link, name, {
            settings,
            isGapless: false
        });
        this.sender = new KafkaSender(link, name);
    }
    async say(identity, position) {
        const { node, process } = position;
        const key = `${identity}/node/${node}`;
        await this.checkOwn(key, process);
        await this.sender.send({
            key,
            value: JSON.stringify(position)
        });
    }
    /** Rejects with CONFIG_INVALID where another process has said something under the name lately. */ async checkOwn(key, process) {
        if (this.owned.has(key)) return;
        await this.catchUp();
        const there = this.said.get(key);
        const isFresh = there !== undefined && this.ageOf(there) < LEASE_MS;
        if (isFresh && there.position.process !== process) {
            throw invalid('node.name', 'a name that no other node of the cluster has', there.position.node);
        }
        this.owned.add(key);
    }
    ageOf({ atMs }) {
        return Math.max(0, this.clock.atMs + performance.now() - this.clock.heardMs - atMs);
    }
    async positions(identity) {
        await this.catchUp();
        return [
            ...this.said
        ].filter(([key])=>key.startsWith(`${identity}/node/`)).map(([, one])=>({
                ...one.position,
                ageMs: this.ageOf(one)
            }));
    }
    async leave(identity, { node, process }) {
        await this.catchUp();
        const key = `${identity}/node/${node}`;
        this.owned.delete(key);
        if (this.said.get(key)?.position.process !== process) return;
        await this.sender.send({
            key,
            value: null
        });
    }
    /** Of several that are written before one of them is read the first in the topic counts. */ async digestAt(identity, offset, digest) {
        await this.catchUp();
        const prefix = `${identity}/digest/`;
        const key = `${prefix}${offset}`;
        const known = this.digests.get(key);
        if (known !== undefined) return known;
        const written = await this.sender.send({
            key,
            value: digest
        });
        await this.follow(written + 1);
        const first = this.digests.get(key) ?? digest;
        // Compaction keeps the last one: it has to be the first one again.
        if (first !== digest) await this.sender.send({
            key,
            value: first
        });
        else this.forgetBefore(prefix, offset - DIGESTS_KEPT);
        return first;
    }
    async close() {
        this.closing.abort();
        this.sender.close();
        for (const { go } of this.waiting.splice(0))go();
        await this.topic.close();
    }
    forgetBefore(prefix, offset) {
        const old = [
            ...this.digests.keys()
        ].filter((key)=>key.startsWith(prefix) && Number(key.slice(prefix.length)) < offset);
        // Those that stay are forgotten with the next digest.
        for (const key of old)this.sender.send({
            key,
            value: null
        }).catch(()=>undefined);
    }
    /** Resolves when all that the topic has now was read. */ async catchUp() {
        const { high } = await this.topic.bounds();
        await this.follow(high);
    }
    async follow(end) {
        this.following ??= this.followAlways();
        if (this.next >= end) return;
        const read = new Promise((go)=>{
            this.waiting.push({
                end,
                go
            });
        });
        await withinMs(FOLLOW_TIMEOUT_MS, read).catch((thrown)=>{
            throw this.link.fault(thrown);
        });
    }
    async followAlways() {
        const { signal } = this.closing;
        while(!signal.aborted){
            try {
                for await (const { records, next } of this.topic.read(this.next, signal)){
                    for (const record of records)this.take(record);
                    this.next = next;
                    const isDone = ({ end })=>end <= next;
                    for (const { go } of this.waiting.filter(isDone))go();
                    this.waiting = this.waiting.filter((one)=>!isDone(one));
                }
            } catch  {
                // Callers have their own bound and reason; this goes on for the next ones.
                await pause(FOLLOW_AGAIN_MS, undefined, {
                    signal
                }).catch(()=>undefined);
            }
        }
    }
    take({ key: bytes, value, timestamp }) {
        const key = String(bytes);
        const atMs = Number(timestamp);
        if (atMs >= this.clock.atMs) this.clock = {
            atMs,
            heardMs: performance.now()
        };
        if (value === null) {
            this.said.delete(key);
            this.digests.delete(key);
        } else if (key.includes('/node/')) {
            const position = positionIn(value);
            if (position !== undefined) this.said.set(key, {
                position,
                atMs
            });
        } else if (!this.digests.has(key)) {
            this.digests.set(key, value.toString());
        }
    }
}
/** Undefined for a record of another program: the topic is read on behind it. */ function positionIn(value) {
    try {
        const position = JSON.parse(value.toString());
        return typeof position?.offset === 'number' ? position : undefined;
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=kafka-words.js.map