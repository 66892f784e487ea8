import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
import { CostEstimates } from "./cost-estimates.js";
import { leastUsOf } from "./load-class.js";
import { NodeLoads } from "./node-loads.js";
import { RoutingTable } from "./table.js";
/**
 * One router's view of the nodes: the table, who takes requests, and what is outstanding where.
 * Pure but for its clock. Owner: a gateway; single-threaded.
 */ export class Router {
    nowMs;
    current = new RoutingTable([], 0);
    loads = new NodeLoads(this.current);
    costs = new CostEstimates();
    /** Milliseconds of each node's last answer. */ answeredMs = new Map();
    constructor(nowMs = ()=>performance.now()){
        this.nowMs = nowMs;
    }
    get table() {
        return this.current;
    }
    /** A new table. Nodes that stay keep what is outstanding at them, and whether they are up. */ setMembers(members) {
        const [before, loads] = [
            this.current,
            this.loads
        ];
        this.current = new RoutingTable(members, before.revision + 1, before);
        this.loads = new NodeLoads(this.current);
        const now = this.nowMs();
        for (const [node, { name }] of members.entries()){
            const old = before.indexOf(name);
            if (old < 0) continue;
            this.loads.begin(node, loads.ownUs(old));
            this.loads.state(node, loads.statedUs(old), now);
            this.loads.setStore(node, loads.storeOf(old));
            this.loads.setUp(node, loads.takes(old));
        }
        for (const name of this.answeredMs.keys()){
            if (this.current.indexOf(name) < 0) this.answeredMs.delete(name);
        }
    }
    setUp(name, isUp) {
        const node = this.current.indexOf(name);
        if (node >= 0) this.loads.setUp(node, isUp);
    }
    /** The store of keys and values that a node shares with others of the same word; '': none. */ setStore(name, store) {
        const node = this.current.indexOf(name);
        if (node >= 0) this.loads.setStore(node, store);
    }
    /** The role whose nodes take the calls of a role; another one: no node of it takes requests. */ servedBy(role) {
        return this.loads.servedBy(role);
    }
    /** Predicted microseconds of all that a node has, of every router as far as it is known. */ outstandingUs(name) {
        this.loads.step(this.nowMs());
        return this.loads.outstandingUs(this.current.indexOf(name));
    }
    /**
   * Where a request of a partition, or of nobody's, goes: to a node of its role while one takes
   * requests. `without`: nodes that have failed it. Undefined: no node takes it.
   */ choose(partition, without = NONE, role = 'answer') {
        const { current, loads } = this;
        loads.step(this.nowMs());
        const failed = without.length === 0 ? NOBODY : new Set(without.map((name)=>current.indexOf(name)));
        if (partition === undefined) {
            const node = loads.leastLoaded(failed, role);
            return node === undefined ? undefined : {
                name: this.nameOf(node),
                reason: 'no-user'
            };
        }
        const choice = loads.choose(partition, failed, role);
        return choice && {
            name: this.nameOf(choice.node),
            reason: choice.reason
        };
    }
    /**
   * A request of a kind begins at a node.
   * @returns what ends it; `isAnswered`: its time says what such requests cost
   */ begin(name, kind) {
        const costUs = this.costs.predictedUs(kind);
        const node = this.current.indexOf(name);
        if (node >= 0) this.loads.begin(node, costUs);
        const begunMs = this.nowMs();
        return (isAnswered)=>{
            // The table may be another one by now.
            const index = this.current.indexOf(name);
            if (index >= 0) this.loads.end(index, costUs);
            if (!isAnswered) return;
            const nowMs = this.nowMs();
            const fromMs = Math.max(begunMs, this.answeredMs.get(name) ?? 0);
            this.costs.observe(kind, (nowMs - fromMs) * MICROSECONDS_PER_MILLISECOND);
            if (index >= 0) this.answeredMs.set(name, nowMs);
        };
    }
    /** An answer of a node bore this load class. */ state(name, loadClass) {
        const node = this.current.indexOf(name);
        if (node >= 0) this.loads.state(node, leastUsOf(loadClass), this.nowMs());
    }
    /**
   * The least microseconds that a request of a partition waits, at whichever of the nodes that may
   * get it, as these have said with their answers; 0 where one of them has said nothing of that
   * kind. Nodes say the least that their class stands for, so this is no guess.
   */ leastWaitUs(partition, role = 'answer') {
        const { loads } = this;
        loads.step(this.nowMs());
        let least = Number.POSITIVE_INFINITY;
        for (const node of loads.takersOf(partition, role)){
            least = Math.min(least, loads.statedUs(node));
        }
        return Number.isFinite(least) ? least : 0;
    }
    nameOf(node) {
        return this.current.members[node]?.name ?? '';
    }
}
const NONE = [];
const NOBODY = new Set();

//# sourceMappingURL=router.js.map