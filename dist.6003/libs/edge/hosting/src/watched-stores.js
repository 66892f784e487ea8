const PERIOD_MS = 1000;
/**
 * Shows the stores among the conditions and looks after them every second, so that each goes on by
 * itself when its disk is well again. Readiness needs no store: reads go on, and writes are
 * refused with a code of their own. Logs what changes.
 * @returns what ends it
 */ export function watchStores(stores, readiness, log) {
    for (const { name, condition } of stores){
        readiness.conditions.add({
            name,
            kind: 'store',
            isNeeded: false,
            read: condition
        });
    }
    const states = new Map();
    const look = async (store)=>{
        await store.refresh().catch(()=>undefined);
        const { name } = store;
        const { state, reason } = store.condition();
        if (state !== (states.get(name) ?? 'ok')) {
            if (state === 'ok') log.info({
                store: name
            }, 'the store takes writes again');
            else log.error({
                store: name,
                state,
                reason
            }, 'the store takes no writes');
        }
        states.set(name, state);
    };
    let isLooking = false;
    const timer = setInterval(()=>{
        if (isLooking) return;
        isLooking = true;
        void Promise.all(stores.map(look)).finally(()=>{
            isLooking = false;
        });
    }, PERIOD_MS);
    timer.unref();
    return ()=>clearInterval(timer);
}

//# sourceMappingURL=watched-stores.js.map