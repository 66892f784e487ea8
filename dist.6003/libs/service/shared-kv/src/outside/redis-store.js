import { TesseraError } from "../../../../ops/errors/src/index.js";
import { parseRedisNodes, RedisLink } from "../../../../ops/redis/src/index.js";
import { checkChain, checkName, checkPrefix } from "../domain/store-names.js";
import { ERASE_SCRIPT, PUBLISH_SCRIPT, USE_SCRIPT, WRITE_SCRIPT } from "./redis-scripts.js";
const SCRIPTS = {
    tesseraKvWrite: {
        lua: WRITE_SCRIPT,
        numberOfKeys: 2
    },
    tesseraKvPublish: {
        lua: PUBLISH_SCRIPT,
        numberOfKeys: 2
    },
    tesseraKvErase: {
        lua: ERASE_SCRIPT,
        numberOfKeys: 2
    },
    tesseraKvUse: {
        lua: USE_SCRIPT,
        numberOfKeys: 2
    }
};
/** A process that has not applied an erasure for so long is none. */ const FENCE_TTL_MS = 366 * 24 * 60 * 60 * 1000;
/** A chain that is read is kept on, by one command in so many milliseconds. */ const USE_EVERY_MS = 60_000;
/** So many chains are known to have been kept on. */ const USED_MAX = 65_536;
/**
 * A store in Redis 7 or Valkey: a lone server, one that sentinels name, or a cluster. Keys of an
 * owner, in one slot: `PREFIX:{OWNER}` (a hash of all its versions, see redis-scripts.ts) and
 * `PREFIX:{OWNER}:erased` (the offset of its newest erasure, kept for a year). Finds, reads
 * and writes have a connection each: a head waits behind no megabytes, whichever way they go.
 */ export class RedisSharedStore {
    options;
    place;
    finds;
    reads;
    writes;
    used = new Map();
    /** Asks nothing yet. @throws TesseraError CONFIG_INVALID */ constructor(options){
        this.options = options;
        const { address, field, prefix } = options;
        checkPrefix(field, prefix);
        this.place = `Redis at ${address.nodes}, ${prefix}`;
        const { security, timeoutMs } = options;
        const nodes = parseRedisNodes(field, address.nodes);
        const own = {
            nodes,
            security,
            timeoutMs,
            field,
            place: this.place,
            scripts: SCRIPTS
        };
        const link = Object.assign({}, address, own);
        this.finds = new RedisLink(link);
        this.reads = new RedisLink(link);
        this.writes = new RedisLink(link);
    }
    get isCluster() {
        return this.contacts.some(({ isCluster })=>isCluster);
    }
    arrivedBytes() {
        return this.contacts.reduce((sum, contact)=>sum + contact.arrivedBytes(), 0);
    }
    async find(chain) {
        checkChain(chain);
        const { version } = chain;
        const [key] = this.keysOf(chain.owner);
        const fields = [
            `${version}h`,
            `${version}r`
        ];
        const found = await this.finds.call((client)=>client.hmgetBuffer(key, ...fields));
        const [head, revision] = Array.isArray(found) ? found : [
            this.bytesOf(found)
        ];
        if (head === null || revision === null) return undefined;
        this.use(chain);
        return {
            head: this.bytesOf(head),
            revision: String(this.bytesOf(revision))
        };
    }
    async read(chain, block) {
        checkChain(chain);
        checkName('block', block);
        const [key] = this.keysOf(chain.owner);
        const field = `${chain.version}b${block}`;
        const bytes = await this.reads.callMoving((client)=>client.hgetBuffer(key, field));
        if (bytes === null) return undefined;
        this.use(chain);
        return this.bytesOf(bytes);
    }
    async write(chain, block, bytes, erasedUntil) {
        checkChain(chain);
        checkName('block', block);
        const words = [
            ...this.wordsOf(chain, erasedUntil),
            block,
            asBuffer(bytes)
        ];
        const said = await this.said((client)=>client.tesseraKvWrite(...words));
        if (said === 'kept' || said === 'erased') return said;
        throw this.strange('kept or erased', said);
    }
    async publish(chain, head, replaces, gone, erasedUntil) {
        checkChain(chain);
        for (const block of gone)checkName('gone', block);
        const words = [
            ...this.wordsOf(chain, erasedUntil),
            asBuffer(head),
            replaces,
            ...gone
        ];
        const said = await this.said((client)=>client.tesseraKvPublish(...words));
        if (said === 'changed' || said === 'erased') return said;
        if (/^\d+$/.test(said)) return {
            kept: said
        };
        throw this.strange('a revision, changed or erased', said);
    }
    async erase(owner, at) {
        checkName('owner', owner);
        const words = [
            ...this.keysOf(owner),
            String(at),
            String(FENCE_TTL_MS)
        ];
        const said = await this.said((client)=>client.tesseraKvErase(...words));
        if (said !== 'kept') throw this.strange('kept', said);
    }
    async close() {
        for (const contact of this.contacts)contact.close();
    }
    get contacts() {
        return [
            this.finds,
            this.reads,
            this.writes
        ];
    }
    keysOf(owner) {
        const key = `${this.options.prefix}:{${owner}}`;
        return [
            key,
            `${key}:erased`
        ];
    }
    wordsOf({ owner, version }, erasedUntil) {
        const ttl = String(this.options.ttlMs);
        return [
            ...this.keysOf(owner),
            String(erasedUntil),
            version,
            ttl
        ];
    }
    async said(command) {
        return String(await this.writes.call(command));
    }
    /** Not awaited: a chain that expires early is computed. */ use({ owner, version }) {
        const chain = owner + version;
        const nowMs = performance.now();
        if (nowMs - (this.used.get(chain) ?? -USE_EVERY_MS) < USE_EVERY_MS) return;
        const [oldest] = this.used.keys();
        if (this.used.size >= USED_MAX && oldest !== undefined) this.used.delete(oldest);
        this.used.delete(chain);
        this.used.set(chain, nowMs);
        const words = [
            ...this.keysOf(owner),
            version,
            String(this.options.ttlMs)
        ];
        this.writes.call((client)=>client.tesseraKvUse(...words)).catch(()=>undefined);
    }
    bytesOf(answer) {
        if (Buffer.isBuffer(answer)) return answer;
        throw this.strange('bytes', typeof answer);
    }
    strange(expected, got) {
        const text = `${this.place}: expected ${expected}, got ${got.slice(0, 100)}`;
        return new TesseraError('STORE_UNAVAILABLE', text);
    }
}
function asBuffer(bytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

//# sourceMappingURL=redis-store.js.map