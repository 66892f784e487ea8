import { ClusterNode, eventualParts } from "../../../libs/cluster/node/src/index.js";
import { pendingErasuresOf } from "./erasure-parts.js";
/** Milliseconds between two notes of a position behind which nothing was erased. */ const NOTE_MS = 1000;
/**
 * A process with a store of behaviours follows the cluster log: whoever was erased while it was
 * away, or since its disk was copied, is in its list of erasures before it serves. Rejects with
 * LOG_TRIMMED, LOG_DIFFERENT.
 */ export async function followLog(config, opened, behaviours, nodeLog) {
    const keeper = keeperOf(behaviours);
    const pending = await pendingErasuresOf(config);
    const { node, cluster } = config;
    const options = {
        ...opened,
        node: node.name,
        cluster: cluster.name,
        pending,
        nodeLog
    };
    const stores = {
        eraseRecalls: undefined,
        serving: undefined,
        budgetMs: 0
    };
    const joined = await ClusterNode.joinPart(options, (log)=>{
        const eventual = eventualParts({
            log,
            behaviours,
            ...stores
        });
        return {
            keeper,
            ordered: [],
            eventual
        };
    });
    return {
        node: joined,
        close: async ()=>{
            await joined.close();
            await keeper.close();
        }
    };
}
/** Kept beside behaviours of this process's own; those in Redis are all nodes' to erase. */ function keeperOf(behaviours) {
    const store = 'noteMark' in behaviours ? behaviours : undefined;
    let newest = store?.mark ?? '';
    const keep = async ()=>{
        if (store !== undefined && newest !== store.mark) await store.noteMark(newest);
    };
    const timer = setInterval(()=>void keep().catch(()=>undefined), NOTE_MS);
    timer.unref();
    return {
        mark: ()=>newest,
        note: async (mark)=>{
            newest = mark;
        },
        close: async ()=>{
            clearInterval(timer);
            await keep();
        }
    };
}

//# sourceMappingURL=follow-log.js.map