import { TesseraError } from "../../ops/errors/src/index.js";
import { addon } from "./addon.js";
import { awaitNative, callNative } from "./native-error.js";
const US_PER_MS = 1000;
export function kvFields(kv) {
    return {
        kvPool: kv.pool,
        kvDeviceBytes: kv.deviceBytes,
        kvHostBytes: kv.hostBytes,
        kvDiskBytes: kv.diskBytes,
        kvFolder: kv.path,
        kvDiskReserveBytes: kv.diskReserveBytes ?? 0,
        kvBlockCodec: kv.blockCodec,
        kvVersionsBackMax: kv.versionsBackMax,
        kvReadThreads: kv.readThreads,
        kvStoreQueueMax: kv.storeQueueMax,
        kvPrefetchQueueMax: kv.prefetchQueueMax,
        kvSharedLinks: Int32Array.from(kv.sharing?.links ?? [])
    };
}
/** The pool inside the engine of this process. */ export class NativeKvPool {
    engine;
    sharing;
    isChecking = false;
    constructor(engine, sharing){
        this.engine = engine;
        this.sharing = sharing;
    }
    metrics() {
        return callNative(()=>addon().kvMetrics(this.engine));
    }
    holds(userId) {
        return callNative(()=>addon().kvHolds(this.engine, userId));
    }
    inspect(userId) {
        return callNative(()=>addon().kvInspect(this.engine, userId));
    }
    async dropUser(userId, budgetMs, at = 0) {
        await awaitNative(()=>addon().kvDropUser(this.engine, userId, budgetMs * US_PER_MS, at));
        this.noteErasures(at);
    }
    noteErasures(until) {
        this.sharing?.erasedUntil(until);
    }
    dropVersion(version) {
        return callNative(()=>addon().kvDropVersion(this.engine, version));
    }
    async checkIntegrity(signal) {
        if (this.isChecking) {
            const message = 'checkIntegrity: expected one check at a time, got another';
            throw new TesseraError('OPERATION_BUSY', message);
        }
        if (signal?.aborted === true) throw new TesseraError('CANCELLED', 'the caller went away');
        const cancel = ()=>callNative(()=>addon().kvCancelCheck(this.engine));
        this.isChecking = true;
        try {
            const checked = awaitNative(()=>addon().kvCheckIntegrity(this.engine));
            signal?.addEventListener('abort', cancel, {
                once: true
            });
            return await checked;
        } finally{
            this.isChecking = false;
            signal?.removeEventListener('abort', cancel);
        }
    }
}

//# sourceMappingURL=native-kv-pool.js.map