import { checkedMembers, joinMembers, leaveMembers } from "../../../libs/cluster/routing/src/index.js";
/** The place of this process among the nodes of a cluster; without `cluster.etcd` there is none. */ export class ClusterSeat {
    config;
    nodeKey;
    constructor(config, nodeKey){
        this.config = config;
        this.nodeKey = nodeKey;
    }
    /**
   * Once the edges listen. Rejects with CONFIG_INVALID where another process has the node's name,
   * STORE_UNAVAILABLE where etcd is away.
   */ async take(serving, { conditions }) {
        const { nodeKey } = this;
        if (nodeKey === undefined) return;
        const { cluster, node } = this.config;
        const [grpc, http] = cluster.advertise.split('/');
        const member = {
            name: node.name,
            grpc: grpc || serving.grpcAddress,
            http: http || new URL(serving.httpUrl).host,
            weight: cluster.weight,
            role: cluster.role
        };
        checkedMembers([
            member
        ], 'cluster.advertise');
        await joinMembers(nodeKey, member);
        conditions.add({
            name: 'cluster',
            kind: 'dependency',
            isNeeded: false,
            read: ()=>{
                const { reason } = nodeKey;
                return {
                    state: reason === '' ? 'ok' : 'degraded',
                    reason
                };
            }
        });
    }
    /** The node says that it goes, so that nobody waits for its lease to end. */ leaving(budgetMs) {
        const { nodeKey } = this;
        if (nodeKey === undefined) return [];
        // A log in etcd holds the same key until the node follows it no longer.
        const leave = ()=>this.config.cluster.log === 'etcd' ? leaveMembers(nodeKey) : nodeKey.leave();
        return [
            {
                name: 'leave the cluster',
                budgetMs,
                act: ()=>leave().catch(()=>undefined)
            }
        ];
    }
}

//# sourceMappingURL=cluster-seat.js.map