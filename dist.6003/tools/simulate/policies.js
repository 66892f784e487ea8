import { CostEstimates, loadClassOf, partitionOf, Router } from "../../libs/cluster/routing/src/index.js";
import { seeded } from "./seeded.js";
/**
 * `router` is the product's own. `prefix-aware` is the published rule of a router that hears of
 * every block which a node keeps (NVIDIA Dynamo, docs/router: the sum of blocks to compute, those
 * of prompts under way among them, and of all blocks under way). The oracle knows every node's
 * backlog and blocks exactly.
 */ export const POLICIES = [
    'router',
    'prefix-aware',
    'random',
    'round-robin',
    'fewest-requests',
    'oracle'
];
/** Bytes of a token in a request that brings its prompt with it. */ const TOKEN_BYTES = 4;
/** The code that gateways route by, over the clock of the simulation. */ let RouterPolicy = class RouterPolicy {
    router;
    byName;
    constructor(nodes, events){
        this.router = new Router(()=>events.nowUs / 1000);
        this.router.setMembers(membersOf(nodes));
        this.byName = new Map(nodes.map((node)=>[
                node.name,
                node
            ]));
        for (const { name, sharesStore } of nodes){
            this.router.setStore(name, sharesStore ? 'store' : '');
            this.router.setUp(name, true);
        }
    }
    choose({ user }) {
        return this.byName.get(this.router.choose(partitionOf(user))?.name ?? '');
    }
    begin(node, { kind, promptTokens }) {
        const { name } = node;
        const end = this.router.begin(name, CostEstimates.kindOf(kind, promptTokens * TOKEN_BYTES));
        return ()=>{
            end(node.isUp);
            this.router.state(name, loadClassOf(node.engine.backlogUs()));
        };
    }
    lost({ name }) {
        this.router.setUp(name, false);
    }
};
function membersOf(nodes) {
    return nodes.map(({ name })=>({
            name,
            grpc: `${name}:1`,
            http: `${name}:2`,
            weight: 1
        }));
}
const freshBlocks = (node, arrival)=>arrival.blocks.length - node.memoryBlocks(arrival);
function costOf(name, seed) {
    const random = seeded(seed);
    switch(name){
        case 'random':
            return random;
        case 'round-robin':
            return ({ sent })=>sent;
        case 'fewest-requests':
            return ({ requests })=>requests;
        case 'prefix-aware':
            return (counts, arrival, node)=>counts.freshBlocks + freshBlocks(node, arrival) + counts.blocks;
        case 'oracle':
            return (_, arrival, node)=>node.outlook(arrival).firstUs;
    }
}
/** Takes the node of the least cost. */ let CountingPolicy = class CountingPolicy {
    costOf;
    counts = new Map();
    constructor(nodes, costOf){
        this.costOf = costOf;
        for (const node of nodes){
            this.counts.set(node, {
                sent: 0,
                requests: 0,
                blocks: 0,
                freshBlocks: 0
            });
        }
    }
    choose(arrival) {
        let best;
        let least = Number.POSITIVE_INFINITY;
        for (const [node, counts] of this.counts){
            if (!node.isUp) continue;
            const cost = this.costOf(counts, arrival, node);
            if (cost >= least) continue;
            best = node;
            least = cost;
        }
        return best;
    }
    begin(node, arrival) {
        const counts = this.counts.get(node);
        const fresh = freshBlocks(node, arrival);
        const add = (sign)=>{
            counts.requests += sign;
            counts.blocks += sign * arrival.blocks.length;
            counts.freshBlocks += sign * fresh;
        };
        counts.sent += 1;
        add(1);
        return ()=>add(-1);
    }
    lost() {}
};
export function policyOf(name, nodes, events, seed) {
    if (name === 'router') return new RouterPolicy(nodes, events);
    return new CountingPolicy(nodes, costOf(name, seed));
}

//# sourceMappingURL=policies.js.map