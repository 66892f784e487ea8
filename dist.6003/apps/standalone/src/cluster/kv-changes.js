/** Removals of a user's data: on every node of a cluster. */ export function kvChanges({ serving, facts }, eraseRecalls, clusterNode) {
    if (clusterNode !== undefined) {
        return {
            dropUser: async (userId, withRecords, budgetMs)=>{
                const signal = AbortSignal.timeout(Math.max(1, Math.ceil(budgetMs)));
                await clusterNode.erase({
                    userId,
                    withBehaviours: false,
                    withRecords
                }, signal);
            },
            dropVersion: (version)=>clusterNode.dropVersion(version)
        };
    }
    return {
        dropUser: async (userId, withRecords, budgetMs)=>{
            await serving.forgetUser(userId, budgetMs);
            if (withRecords) await eraseRecalls?.(userId);
        },
        dropVersion: async (version)=>facts.kvPool.dropVersion(version)
    };
}
/**
 * Users whose behaviours this node follows. Those of a node that only appends are held where
 * recalls are answered, and by the store that it fills: they are all of whom behaviours arrive.
 */ export function followedUsers({ cluster }, facts) {
    return cluster.role === 'append' ? ()=>true : (userId)=>facts.kvPool.holds(userId);
}

//# sourceMappingURL=kv-changes.js.map