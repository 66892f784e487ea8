import { writeFile } from "node:fs/promises";
import { TesseraError } from "../../ops/errors/src/index.js";
import { partsOfRegular } from "../../ops/files/src/index.js";
import { chained, LEASE_MS, NO_OFFSET } from "../../cluster/log/src/index.js";
const HEARTBEAT_MS = 200;
const YIELD_ENTRIES_MAX = 512;
/** State that all handles of one log share. */ export class MemoryLogState {
    identity = '';
    anew;
    /** Of the entries before the first that is there. */ before = '';
    /** Offset of the first of `entries`. */ first = 1;
    entries = [];
    positions = new Map();
    digests = new Map();
    /** Every call of every handle rejects while it is set. */ away = false;
    waiting = [];
    get end() {
        return this.first + this.entries.length - 1;
    }
    get chain() {
        return this.entries.at(-1)?.chain ?? (this.before || this.identity);
    }
    /** Of the entries up to an offset; undefined: they are gone, or have yet to come. */ chainAt(offset) {
        if (offset === this.end) return this.chain;
        if (offset === 0) return this.identity;
        if (offset === this.first - 1) return this.before;
        return this.entries[offset - this.first]?.chain;
    }
    trim(count) {
        this.before = this.entries.splice(0, count).at(-1)?.chain ?? this.before;
        this.first += count;
        this.wake();
    }
    /** As a server that was restored from an older copy of it. */ cutBehind(offset) {
        this.entries.splice(offset + 1 - this.first);
        for (const [node, position] of this.positions){
            if (position.offset > offset) this.positions.delete(node);
        }
        this.digests.clear();
        this.wake();
    }
    beginAnew(identity, anew) {
        Object.assign(this, {
            identity,
            anew,
            first: 1,
            entries: [],
            before: ''
        });
        this.digests.clear();
        this.wake();
    }
    append(bytes) {
        const atMs = Math.max(Date.now(), this.entries.at(-1)?.atMs ?? 0);
        const chain = chained(this.chain, bytes);
        this.entries.push({
            offset: this.end + 1,
            atMs,
            bytes: Uint8Array.from(bytes),
            chain
        });
        this.wake();
        return this.end;
    }
    /** Every reader looks again. */ wake() {
        for (const go of this.waiting.splice(0))go();
    }
    /** Resolves with the next entry, with the time of a heartbeat, or where the signal is aborted. */ changed(signal) {
        return new Promise((resolve)=>{
            const timer = setInterval(()=>go(), HEARTBEAT_MS);
            const go = ()=>{
                clearInterval(timer);
                signal.removeEventListener('abort', go);
                resolve();
            };
            signal.addEventListener('abort', go, {
                once: true
            });
            this.waiting.push(go);
            if (signal.aborted) go();
        });
    }
}
/** A log in this process: handles of one state are the nodes of a cluster. */ export class MemoryLog {
    state;
    leaseMs;
    place = 'memory';
    /** Every call of this handle rejects while it is set; `state.away`: of all handles. */ away = false;
    closing = new AbortController();
    constructor(state = new MemoryLogState(), leaseMs = LEASE_MS){
        this.state = state;
        this.leaseMs = leaseMs;
    }
    async bounds() {
        this.check();
        const { identity, first, end, chain, anew } = this.state;
        return {
            identity,
            first,
            end,
            chain,
            anew
        };
    }
    async begin(identity) {
        this.check();
        this.state.identity ||= identity;
        return this.state.identity;
    }
    async append(bytes, after) {
        this.check();
        const chain = after.offset > this.state.end ? '' : this.state.chainAt(after.offset);
        const isKnown = chain !== undefined && (chain === '' || after.chain !== '');
        if (!isKnown || chain === after.chain) return this.state.append(bytes);
        const message = `${this.place}: expected entry ${after.offset} with digest ${after.chain}`;
        throw new TesseraError('LOG_DIFFERENT', `${message}, got ${chain || 'a shorter log'}`);
    }
    async *read(from, signal) {
        const ended = AbortSignal.any([
            signal,
            this.closing.signal
        ]);
        const { state } = this;
        for(let next = Math.max(from, NO_OFFSET + 1); !ended.aborted;){
            this.check();
            if (next > state.end + 1) {
                const message = `${this.place}: expected entries up to ${next - 1}, got ${state.end}`;
                throw new TesseraError('LOG_DIFFERENT', message);
            }
            if (next < state.first) {
                const message = `${this.place}: expected entries from ${next} on, got ${state.first}`;
                throw new TesseraError('LOG_TRIMMED', message);
            }
            const at = next - state.first;
            const entries = state.entries.slice(at, at + YIELD_ENTRIES_MAX);
            next = (entries.at(-1)?.offset ?? next - 1) + 1;
            yield entries;
            if (entries.length === 0) await state.changed(ended);
        }
    }
    async trim(before) {
        this.check();
        this.state.trim(Math.max(0, Math.min(before, this.state.end + 1) - this.state.first));
    }
    async say(position) {
        this.check();
        const { node, process } = position;
        const there = this.state.positions.get(node);
        const saidMs = performance.now();
        const isHeld = there !== undefined && saidMs - there.saidMs < LEASE_MS;
        if (isHeld && there.process !== process) {
            const message = `node.name: expected a name that no other node has, got ${node}`;
            throw new TesseraError('CONFIG_INVALID', message, {
                field: 'node.name'
            });
        }
        this.state.positions.set(node, Object.assign({}, position, {
            saidMs
        }));
        return saidMs + this.leaseMs;
    }
    async positions() {
        this.check();
        const now = performance.now();
        return [
            ...this.state.positions.values()
        ].map(({ saidMs, ...position })=>({
                ...position,
                ageMs: now - saidMs
            }));
    }
    async leave({ node, process }) {
        this.check();
        const { positions } = this.state;
        if (positions.get(node)?.process === process) positions.delete(node);
    }
    async beginAnew(identity, anew) {
        this.check();
        this.state.beginAnew(identity, anew);
    }
    async digestAt(offset, digest) {
        this.check();
        const kept = this.state.digests.get(offset) ?? digest;
        this.state.digests.set(offset, kept);
        return kept;
    }
    async close() {
        this.closing.abort();
    }
    check() {
        if (!this.away && !this.state.away) return;
        throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it is away`);
    }
}
/** An entry store in this process: handles of one map are those of several nodes. */ export class MemoryEntryStore {
    contents;
    place = 'memory';
    /** Every call of this handle rejects while it is set. */ away = false;
    constructor(contents = new Map()){
        this.contents = contents;
    }
    async put(name, content) {
        this.check();
        if (!this.contents.has(name)) this.contents.set(name, Uint8Array.from(content));
    }
    async putFile(name, path) {
        const parts = [];
        for await (const part of partsOfRegular(path))parts.push(part);
        await this.put(name, Buffer.concat(parts));
    }
    async get(name) {
        this.check();
        const content = this.contents.get(name);
        if (content !== undefined) return content;
        throw new TesseraError('STORE_CORRUPT', `${this.place}: expected ${name}, got nothing`);
    }
    async getFile(name, path) {
        await writeFile(path, await this.get(name));
    }
    async list(prefix) {
        this.check();
        return [
            ...this.contents.keys()
        ].filter((name)=>name.startsWith(prefix));
    }
    async remove(name) {
        this.check();
        this.contents.delete(name);
    }
    check() {
        if (!this.away) return;
        throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: it is away`);
    }
}

//# sourceMappingURL=memory-log.js.map