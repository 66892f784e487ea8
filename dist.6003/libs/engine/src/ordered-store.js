import { PackedReader, PackedWriter, readStoreFound, writeStoreBatch, writeStoreQuery } from "../../../native/ts/index.js";
import { addon } from "./addon.js";
import { awaitNative, callNative, fromNative } from "./native-error.js";
/** The findings of a query, as they lie in one piece of memory. */ export class StoreReading {
    found;
    constructor(words){
        this.found = readStoreFound(new PackedReader(words).open(0));
    }
    /** Per key; undefined where it is not there. */ values() {
        return this.found.values.map(({ isThere, value })=>isThere ? value : undefined);
    }
    /** Of the range with this index. */ range(index) {
        const range = this.found.ranges[index];
        if (range === undefined) throw new RangeError(`expected a range of the query, got ${index}`);
        return range.entries;
    }
    /** The same, an object for each. */ entries(index) {
        const range = this.range(index);
        const entries = [];
        range.each((keyBegin, valueBegin, valueEnd)=>{
            entries.push({
                key: range.bytes.subarray(keyBegin, valueBegin),
                value: range.bytes.subarray(valueBegin, valueEnd)
            });
        });
        return entries;
    }
}
/** Used again by every call: the addon copies what it reads while it is called. */ const out = new PackedWriter();
/**
 * An ordered map of byte strings in a folder of its own, for one process. Rejects with
 * STORE_CORRUPT where a checksum fails, STORE_FULL and STORE_UNAVAILABLE where the disk takes no
 * writes.
 */ export class OrderedStore {
    handle;
    constructor(handle){
        this.handle = handle;
    }
    /** Rejects with STORE_INVALID (in use, not writable), STORE_CORRUPT or STORE_FULL. */ static async open(options) {
        return new OrderedStore(await awaitNative(()=>addon().storeOpen(options)));
    }
    /** How it fares. Cheap; of a closed one: down. */ condition() {
        try {
            const { health, reason } = addon().storeState(this.handle);
            return {
                state: health,
                reason
            };
        } catch (thrown) {
            return {
                state: 'down',
                reason: fromNative(thrown).message
            };
        }
    }
    /** Goes on writing where that had ended. Rejects with STORE_FULL or STORE_UNAVAILABLE. */ recover() {
        return awaitNative(()=>addon().storeRecover(this.handle));
    }
    /**
   * Keys and ranges in one call; awaits nothing where all of it is in memory and short. Throws what
   * the promise would reject with.
   */ read(query) {
        const found = callNative(()=>addon().storeRead(this.handle, ...out.record(writeStoreQuery, query)));
        if (!(found instanceof Promise)) return new StoreReading(found);
        return awaitNative(()=>found).then((words)=>new StoreReading(words));
    }
    /** A value per key; undefined where the key is not there. */ async get(keys) {
        return (await this.read({
            keys,
            ranges: []
        })).values();
    }
    async scan(range) {
        return (await this.read({
            keys: [],
            ranges: [
                range
            ]
        })).entries(0);
    }
    /** Counts whole or not at all. */ async write(changes) {
        await awaitNative(()=>addon().storeWrite(this.handle, ...out.record(writeStoreBatch, changes)));
    }
    /**
   * Rewrites files until no byte of what was erased in the ranges, whose ends lie in them, or of
   * anything that was erased where none are given, is left in one. Takes seconds; others go on.
   */ async scrub(ranges) {
        const whole = ranges.map(({ from, to })=>({
                from,
                to,
                limit: 0,
                direction: 'ascending'
            }));
        const query = {
            keys: [],
            ranges: whole
        };
        await awaitNative(()=>addon().storeScrub(this.handle, ...out.record(writeStoreQuery, query)));
    }
    /** Calls under way finish; further ones reject with ENGINE_CLOSED. */ close() {
        callNative(()=>addon().storeClose(this.handle));
    }
}
/** The readable part of a damaged store; with `apply` the store is made anew of that. */ export function repairStore(path, apply) {
    return awaitNative(()=>addon().storeRepair(path, apply));
}
/** The same of a folder of changes of a catalogue. */ export function repairChanges(path, apply) {
    return awaitNative(()=>addon().catalogueRepair(path, apply));
}

//# sourceMappingURL=ordered-store.js.map