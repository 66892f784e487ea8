const PERIOD_MS = 5000;
/** Logs what changed since the last look: stores that stop or go on, and blocks that were lost. */ export function noteKvPool(last, now, log) {
    const isStoring = now.isStoring === 1;
    if (last.isStoring && !isStoring) {
        log.warn({
            reason: now.storeError
        }, 'the KV pool stores nothing on disk; serving goes on');
    }
    if (!last.isStoring && isStoring) log.info({}, 'the KV pool stores on disk again');
    const dropped = now.storesDropped - last.storesDropped;
    if (dropped > 0) log.warn({
        dropped
    }, 'the KV pool did not store users: its queue was full');
    const corrupt = now.loadsCorrupt - last.loadsCorrupt;
    if (corrupt > 0) log.error({
        corrupt
    }, 'blocks on disk did not have their checksum: given up');
    return {
        isStoring,
        storesDropped: now.storesDropped,
        loadsCorrupt: now.loadsCorrupt
    };
}
/** Looks at the pool now and then; the returned function ends that. */ export function watchKvPool(look, log) {
    let last = {
        isStoring: true,
        storesDropped: 0,
        loadsCorrupt: 0
    };
    const timer = setInterval(()=>{
        last = noteKvPool(last, look(), log);
    }, PERIOD_MS);
    timer.unref();
    return ()=>clearInterval(timer);
}

//# sourceMappingURL=kv-watch.js.map