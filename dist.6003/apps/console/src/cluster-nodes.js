function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
import { Injectable } from "@nestjs/common";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ConsoleParts } from "./console-parts.js";
import { invalid } from "./fields.js";
/** Names the node that another node's console asks; such a request is asked of nobody else. */ const NODE_HEADER = 'x-tessera-node';
const NODES_AT_ONCE = 16;
/** Of one node's answer. */ const NODE_MS_MAX = 3000;
/** Of the answers of all nodes: those that are not asked by then are left out, and said to be. */ const ALL_MS_MAX = 6000;
export class ClusterNodes {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** Mark of this node's answers; '' outside a cluster. */ get own() {
        const { gateway, node } = this.parts.cluster;
        return gateway === '' ? '' : node;
    }
    /**
   * True if only this node is asked: there is no cluster, or another node asks.
   * @throws TesseraError NODE_UNAVAILABLE for a request that is meant for another node
   */ isAlone({ headers }) {
        const { gateway, node } = this.parts.cluster;
        const meant = headers[NODE_HEADER];
        if (meant === undefined) return gateway === '';
        if (meant === node) return true;
        throw new TesseraError('NODE_UNAVAILABLE', `node: expected ${meant}, got ${node}`);
    }
    /**
   * The node of that name; undefined: this one. Rejects with REQUEST_INVALID where the cluster has
   * none of it, and with NODE_UNAVAILABLE.
   */ async named(request, name) {
        const { cluster } = this.parts;
        if (name === undefined || name === cluster.node || this.isAlone(request)) return undefined;
        const { nodes } = await cluster.state();
        const found = nodes.find((node)=>node.name === name);
        if (found === undefined) throw invalid('node', 'a node of the cluster', name);
        return found;
    }
    /** Keeper of a user's keys and values: the owner, or its first successor that is up. */ async keeperOf(request, userId) {
        const { cluster } = this.parts;
        if (this.isAlone(request)) return {
            node: undefined,
            fault: ''
        };
        try {
            const [{ nodes }, { owner, successors }] = await Promise.all([
                cluster.state(),
                cluster.route(userId)
            ]);
            const named = new Map(nodes.map((node)=>[
                    node.name,
                    node
                ]));
            const order = [
                owner ?? '',
                ...successors
            ].flatMap((name)=>named.get(name) ?? []);
            const node = order.find(({ state })=>state === 'up');
            const [first] = order;
            const fault = node !== undefined && node === first ? '' : awayText(first);
            return {
                node: node?.name === cluster.node ? undefined : node,
                fault
            };
        } catch (thrown) {
            return {
                node: undefined,
                fault: TesseraError.from(thrown).message
            };
        }
    }
    /** Rejects with what the node's console refuses with, and with NODE_UNAVAILABLE. */ ask(node, call) {
        const { method, path, body, timeoutMs = NODE_MS_MAX } = call;
        return this.parts.cluster.ask({
            method,
            address: node.http,
            path: `/console/api/${path}`,
            headers: {
                [NODE_HEADER]: node.name,
                'x-tessera-console': '1'
            },
            timeoutMs,
            ...body !== undefined && {
                body
            }
        });
    }
    /** Answers of the other nodes, and those that gave none. Never rejects. */ async others(path) {
        const answers = [];
        const unreached = [];
        const { cluster } = this.parts;
        let waiting;
        try {
            waiting = (await cluster.state()).nodes.filter(({ name })=>name !== cluster.node);
        } catch (thrown) {
            const reason = TesseraError.from(thrown).message;
            return {
                answers,
                unreached: [
                    {
                        node: 'gateway',
                        reason
                    }
                ]
            };
        }
        const end = performance.now() + ALL_MS_MAX;
        const askSome = async ()=>{
            for(let node = waiting.shift(); node !== undefined; node = waiting.shift()){
                const { name } = node;
                if (node.state === 'down') unreached.push({
                    node: name,
                    reason: stateText(node)
                });
                else if (performance.now() > end) {
                    unreached.push({
                        node: name,
                        reason: `it was not asked within ${ALL_MS_MAX} ms`
                    });
                } else {
                    try {
                        answers.push(await this.ask(node, {
                            method: 'GET',
                            path
                        }));
                    } catch (thrown) {
                        unreached.push({
                            node: name,
                            reason: TesseraError.from(thrown).message
                        });
                    }
                }
            }
        };
        await Promise.all(Array.from({
            length: NODES_AT_ONCE
        }, askSome));
        const byName = unreached.sort((a, b)=>a.node < b.node ? -1 : 1);
        return {
            answers,
            unreached: byName
        };
    }
}
ClusterNodes = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts
    ])
], ClusterNodes);
/** Its state, and why; gateways begin the reason with the name. */ function stateText({ name, state, reason }) {
    const why = reason.startsWith(`${name}: `) ? reason.slice(name.length + 2) : reason;
    return why === '' ? state : `${state}: ${why}`;
}
function awayText(owner) {
    if (owner === undefined) return 'the cluster has no nodes';
    return `the owner ${owner.name} is ${stateText(owner)}`;
}

//# sourceMappingURL=cluster-nodes.js.map