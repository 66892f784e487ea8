import { StoreBreaker } from "../../../ops/breaker/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { Slow, whileMoving, withinMs } from "../../../ops/turns/src/index.js";
import { ByteBudget } from "./domain/byte-budget.js";
import { ReadWindow } from "./domain/read-window.js";
const NOBODY = {
    owner: '0'.repeat(32),
    version: '0'.repeat(32)
};
/**
 * A store with limits. Each call has its time, and a read has it anew while bytes come; reads go by
 * what their bytes allow, writes wait for their share of bytes a second. After some calls in a row
 * to which no byte came, calls fail at once until a probe finds the store again: what is late is
 * not away. Reads and writes fail apart, as a primary that has become a replica answers the first
 * alone. Erasures are always tried, and take the time that the store's own operations may take.
 */ let LimitedStore = class LimitedStore {
    store;
    options;
    place;
    counts = {
        finds: 0,
        found: 0,
        reads: 0,
        readBytes: 0,
        missing: 0,
        writes: 0,
        writtenBytes: 0,
        changed: 0,
        erased: 0,
        refused: 0,
        faults: {}
    };
    reads;
    writes;
    budget;
    window = new ReadWindow();
    listeners = [];
    wasOpen = false;
    /** @param store is closed with it */ constructor(store, options){
        this.store = store;
        this.options = options;
        const { readMs, writeBytesPerSecond } = options;
        const isCluster = ()=>store.isCluster;
        this.place = store.place;
        this.budget = new ByteBudget(writeBytesPerSecond);
        this.reads = new StoreBreaker(store.place, {
            isCluster,
            probe: ()=>this.timed(readMs, ()=>store.find(NOBODY)),
            onChange: (isAway)=>this.tell(isAway)
        });
        this.writes = new StoreBreaker(store.place, {
            isCluster
        });
    }
    get isCluster() {
        return this.store.isCluster;
    }
    arrivedBytes() {
        return this.store.arrivedBytes();
    }
    isOpen() {
        return this.reads.read().state === 'down';
    }
    reason() {
        return this.reads.read().reason || this.writes.read().reason;
    }
    onChange(listener) {
        this.listeners.push(listener);
    }
    async read(chain, block) {
        const { counts, options } = this;
        const { readMs: stillMs, readMostMs: mostMs } = options;
        if (!await this.window.enter(mostMs)) {
            return this.counted(()=>Promise.reject(this.fault(`no turn within ${mostMs} ms`)));
        }
        let read;
        const arrived = ()=>this.store.arrivedBytes();
        try {
            const bytes = await this.call(this.reads, ()=>{
                read = this.store.read(chain, block);
                return whileMoving({
                    stillMs,
                    mostMs
                }, arrived, read);
            });
            if (bytes === undefined) counts.missing += 1;
            else {
                counts.reads += 1;
                counts.readBytes += bytes.length;
            }
            return bytes;
        } finally{
            // Its bytes flow on where it was given up.
            const leave = (bytes)=>this.window.leave(bytes?.length);
            if (read === undefined) leave();
            else read.then(leave, ()=>leave());
        }
    }
    find(chain) {
        const { counts, options } = this;
        return this.call(this.reads, ()=>this.timed(options.readMs, async ()=>{
                counts.finds += 1;
                const head = await this.store.find(chain);
                if (head !== undefined) counts.found += 1;
                return head;
            }));
    }
    write(chain, block, bytes, erasedUntil) {
        return this.afford(bytes, ()=>this.store.write(chain, block, bytes, erasedUntil));
    }
    publish(chain, head, replaces, gone, erasedUntil) {
        return this.afford(head, ()=>this.store.publish(chain, head, replaces, gone, erasedUntil));
    }
    erase(owner, at) {
        return this.counted(()=>this.store.erase(owner, at));
    }
    readCounts() {
        return {
            ...this.counts,
            faults: {
                ...this.counts.faults
            }
        };
    }
    async close() {
        this.budget.close();
        this.reads.close();
        await this.store.close();
    }
    tell(isOpen) {
        if (isOpen === this.wasOpen) return;
        this.wasOpen = isOpen;
        for (const listener of this.listeners)listener(isOpen);
    }
    /** Sends bytes when they may go. */ async afford(bytes, act) {
        const { counts, options } = this;
        // No share for what fails at once.
        if (this.writes.read().state === 'ok' && !await this.budget.take(bytes.length)) {
            throw new TesseraError('STORE_UNAVAILABLE', `${this.place}: the store is closed`);
        }
        const outcome = await this.call(this.writes, ()=>this.timed(options.writeMs, act));
        if (outcome === 'changed') counts.changed += 1;
        else if (outcome === 'erased') counts.erased += 1;
        else {
            counts.writes += 1;
            counts.writtenBytes += bytes.length;
        }
        return outcome;
    }
    /** Rejects as the act does; one that is only slow does not count as a store that is away. */ async call(breaker, act) {
        let isTried = false;
        const tried = async ()=>{
            isTried = true;
            try {
                return {
                    answer: await act()
                };
            } catch (thrown) {
                if (thrown instanceof Slow) return {
                    slow: thrown
                };
                throw thrown instanceof TesseraError ? thrown : this.fault(thrown.message);
            }
        };
        return this.counted(async ()=>{
            const { answer, slow } = await breaker.call(tried);
            if (slow !== undefined) throw this.fault(slow.message);
            return answer;
        }).catch((thrown)=>{
            if (!isTried) this.counts.refused += 1;
            throw thrown;
        });
    }
    async counted(act) {
        try {
            return await act();
        } catch (thrown) {
            const { faults } = this.counts;
            const { code } = TesseraError.from(thrown);
            faults[code] = (faults[code] ?? 0) + 1;
            throw thrown;
        }
    }
    fault(text) {
        return new TesseraError('STORE_UNAVAILABLE', `${this.place}: ${text}`);
    }
    /** Where bytes have come of other calls meanwhile, what is late is only slow. */ async timed(limitMs, act) {
        const arrived = this.store.arrivedBytes();
        let hasSettled = false;
        const work = act().finally(()=>{
            hasSettled = true;
        });
        try {
            return await withinMs(limitMs, work);
        } catch (thrown) {
            if (hasSettled) throw thrown;
            const { message } = thrown;
            throw this.store.arrivedBytes() === arrived ? this.fault(message) : new Slow(message);
        }
    }
};
/** A store with limits of time and of bytes a second, and a circuit breaker. */ export function guarded(store, options) {
    return new LimitedStore(store, options);
}

//# sourceMappingURL=guarded-store.js.map