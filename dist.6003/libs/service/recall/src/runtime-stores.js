import { behaviourFolders } from "../../behaviour/src/index.js";
const nothing = async ()=>undefined;
/** The folders that a recall service writes to, as each fares. */ export function runtimeStores(owners) {
    const { behaviours, adapters, weights, kvPool } = owners;
    const changes = owners.changes.filter(({ folder })=>folder !== '');
    const stores = [
        ...behaviourFolders(behaviours)
    ];
    if (changes.length > 0) stores.push(changesStore(changes));
    if (adapters !== undefined) {
        const condition = ()=>adapters.condition();
        stores.push({
            name: 'adapters',
            condition,
            refresh: ()=>adapters.lookAtDisk()
        });
    }
    const ofWeights = {
        condition: ()=>weights.condition(),
        refresh: ()=>weights.lookAtDisk()
    };
    stores.push({
        name: 'weights',
        ...ofWeights
    });
    stores.push({
        name: 'kv-disk',
        condition: ()=>{
            const { isStoring, storeError } = kvPool.metrics();
            return isStoring === 1 ? {
                state: 'ok',
                reason: ''
            } : {
                state: 'degraded',
                reason: storeError
            };
        },
        refresh: nothing
    });
    return stores;
}
function changesStore(changes) {
    return {
        name: 'catalogue-changes',
        condition: ()=>{
            const reason = changes.map((each)=>each.whyNotWritten()).find((why)=>why !== '') ?? '';
            return {
                state: reason === '' ? 'ok' : 'degraded',
                reason
            };
        },
        refresh: async ()=>{
            for (const each of changes)if (each.whyNotWritten() !== '') await each.recoverWriting();
        }
    };
}
/** Damage of the pool's disk tier at the start: until anything else fails, its last error. */ export function droppedIndex(kvPool) {
    const { indexesDropped, storeError } = kvPool.metrics();
    return indexesDropped === 0 ? [] : [
        {
            cache: 'kv-index',
            reason: storeError
        }
    ];
}

//# sourceMappingURL=runtime-stores.js.map