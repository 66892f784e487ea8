import { erasuresCondition } from "../../../libs/edge/hosting/src/index.js";
import { AllPools, KvFollower, OwnPool, pendingErasuresOf, RemotePools, retrievalPools, UserErasure } from "../../feature/src/index.js";
import { followedUsers } from "./cluster/kv-changes.js";
/** Erasures that an earlier process left are gone on with. */ export async function openUsers(needs) {
    const { config, runtime, log, metrics, readiness, eraseRecalls } = needs;
    const { behaviourLog: behaviours } = runtime.operations;
    const own = new OwnPool(runtime.serving, followedUsers(config, runtime.facts));
    const { clusterNode } = needs;
    if (behaviours === undefined || clusterNode !== undefined) {
        const budgetMs = config.recall.deadlineMsMax;
        const follower = new KvFollower({
            pools: own,
            metrics,
            log,
            budgetMs
        });
        const all = {
            withBehaviours: true,
            withRecords: true
        };
        const erasure = clusterNode && {
            erase: (userId)=>clusterNode.erase({
                    userId,
                    ...all
                })
        };
        return {
            follower,
            erasure,
            close: async ()=>undefined
        };
    }
    const remote = retrievalPools(config);
    const follower = new KvFollower({
        pools: remote.length === 0 ? own : new AllPools([
            own,
            new RemotePools(remote)
        ]),
        metrics,
        log,
        budgetMs: config.recall.deadlineMsMax
    });
    const erasure = new UserErasure({
        behaviours,
        follower,
        eraseRecalls,
        pending: await pendingErasuresOf(config),
        log,
        nowMs: Date.now
    });
    readiness.conditions.add(erasuresCondition(()=>erasure.pendingCount));
    void erasure.retry();
    return {
        follower,
        erasure,
        close: async ()=>{
            await erasure.close();
            for (const { client } of remote)client.close();
        }
    };
}

//# sourceMappingURL=users.js.map