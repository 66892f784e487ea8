import { ClusterCallers, codeOf } from "../cluster/cluster-callers.js";
import { pace } from "../trial/pace.js";
/** How soon a balancer knows that a gateway is not ready; shutdown.delayMs is well above it. */ const LOOK_MS = 100;
const WRITE_MS = 500;
const WRITTEN_ITEM = '1';
const WRITE_ATTEMPTS = 20;
/**
 * Callers of a cluster behind a balancer that asks gateways for their readiness: recalls of fixed
 * users, each attempted once, and changes of one item, each repeated by its key until acknowledged.
 */ export class RolledLoad {
    cluster;
    callsPerSecond;
    counts = {
        recalls: 0,
        lost: 0,
        wrong: 0,
        writes: 0,
        lostWrites: 0
    };
    faults = [];
    callers;
    expected = new Map();
    ready;
    isOver = false;
    turn = 0;
    running = Promise.resolve();
    constructor(cluster, callsPerSecond){
        this.cluster = cluster;
        this.callsPerSecond = callsPerSecond;
        this.callers = new ClusterCallers(cluster);
        this.ready = cluster.gateways;
    }
    /** Users with behaviours, and their answers as they are now. */ async prepare(users) {
        for(let at = 0; at < users; at += 1){
            const userId = `rolled-${at}`;
            await this.callers.begin(this.gateway(), userId, 1 + 11 * at);
            this.expected.set(userId, await this.itemsOf(userId));
        }
    }
    start() {
        this.running = Promise.all([
            this.look(),
            this.recallAll(),
            this.writeAll()
        ]);
    }
    async end() {
        this.isOver = true;
        await this.running;
        for (const node of this.cluster.nodes){
            const count = (await this.callers.items(node)).get(WRITTEN_ITEM)?.count ?? 0;
            this.counts.lostWrites += this.counts.writes - count;
        }
        this.callers.close();
    }
    gateway() {
        this.turn += 1;
        const among = this.ready.length > 0 ? this.ready : this.cluster.gateways;
        return among[this.turn % among.length];
    }
    async itemsOf(userId) {
        const answer = await this.callers.recall(this.gateway(), userId);
        return answer.items.map(({ itemId })=>itemId).join();
    }
    async look() {
        while(!this.isOver){
            const found = await Promise.all(this.cluster.gateways.map(async (name)=>{
                const url = `${this.cluster.httpOf(name)}/health/ready`;
                const reply = await fetch(url).catch(()=>undefined);
                return reply?.ok === true ? [
                    name
                ] : [];
            }));
            this.ready = found.flat();
            await pace(LOOK_MS);
        }
    }
    async recallAll() {
        const users = [
            ...this.expected.keys()
        ];
        const underWay = new Set();
        for(let at = 0; !this.isOver; at += 1){
            const one = this.recallOnce(users[at % users.length]);
            underWay.add(one);
            void one.finally(()=>underWay.delete(one));
            await pace(1000 / this.callsPerSecond);
        }
        await Promise.all(underWay);
    }
    async recallOnce(userId) {
        this.counts.recalls += 1;
        try {
            const items = await this.itemsOf(userId);
            if (items === this.expected.get(userId)) return;
            this.counts.wrong += 1;
            this.faults.push(`${userId}: expected ${this.expected.get(userId)}, got ${items}`);
        } catch (error) {
            this.counts.lost += 1;
            this.faults.push(`${userId}: ${codeOf(error)}`);
        }
    }
    async writeAll() {
        while(!this.isOver){
            const count = this.counts.writes + 1;
            const set = JSON.stringify({
                count
            });
            const change = {
                patchAttributes: {
                    itemId: WRITTEN_ITEM,
                    set
                }
            };
            await this.writeOnce(change, `rolled ${count}`);
            this.counts.writes = count;
            await pace(WRITE_MS);
        }
    }
    /** By one key until it is acknowledged: a change waits for the nodes that serve. */ async writeOnce(change, key) {
        for(let attempt = 1;; attempt += 1){
            try {
                await this.callers.apply(this.gateway(), [
                    change
                ], key);
                return;
            } catch (error) {
                if (attempt === WRITE_ATTEMPTS) throw error;
                await pace(WRITE_MS);
            }
        }
    }
}

//# sourceMappingURL=rolled-load.js.map