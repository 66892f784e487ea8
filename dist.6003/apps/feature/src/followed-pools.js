import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { failureOfCode, isOfRole, partitionOf, RoutingTable } from "../../../libs/cluster/routing/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
/** The pool of the engine in this process. */ export class OwnPool {
    serving;
    mayHold;
    constructor(serving, mayHold){
        this.serving = serving;
        this.mayHold = mayHold;
    }
    async append(userId, budgetMs) {
        const context = {
            signal: new AbortController().signal,
            budgetUs: budgetMs * MICROSECONDS_PER_MILLISECOND
        };
        await this.serving.append(requestOf(userId), context);
    }
    erase(userId, budgetMs) {
        return this.serving.forgetUser(userId, budgetMs);
    }
}
/**
 * The pools of retrieval processes, over gRPC. Each keeps to the users that it holds; those that
 * only append compute for everybody, and one of them is asked for each user.
 */ export class RemotePools {
    pools;
    /** Of the pools that only append, by their addresses. */ table;
    constructor(pools){
        this.pools = pools;
        const own = pools.filter(({ role })=>role === 'append');
        const members = own.map(({ address })=>{
            return {
                name: address,
                grpc: address,
                http: address,
                weight: 1
            };
        });
        this.table = new RoutingTable(members.sort((a, b)=>a.name < b.name ? -1 : 1), 1);
    }
    mayHold() {
        return this.pools.length > 0;
    }
    /** Where no pool that only appends can be asked, the others are, which keep to their users. */ async append(userId, budgetMs) {
        const request = {
            userId,
            onlyHeld: true
        };
        const order = this.table.order(partitionOf(userId));
        for (const node of order){
            const pool = this.poolAt(this.table.members[node]?.name);
            const failed = await pool?.client.keep(request, budgetMs).then(()=>undefined, asError);
            if (failed === undefined) return;
            if (failureOfCode(failed.code) === 'final') throw failed;
        }
        const others = this.pools.filter(({ role })=>role !== 'append');
        const appending = others.filter((pool)=>isOfRole(pool, 'append'));
        const asked = appending.length > 0 ? appending : others;
        await Promise.all(asked.map(({ client })=>client.keep(request, budgetMs)));
    }
    /** Their recorded recalls as well. Rejects naming all that were not reached. */ async erase(userId, budgetMs) {
        await eachOf(this.pools, async ({ address, client })=>{
            try {
                await client.dropUser(userId, budgetMs, {
                    withRecords: true
                });
            } catch (thrown) {
                const { code, message } = TesseraError.from(thrown);
                throw new TesseraError(code, `behaviours.retrieval: ${address}: ${message}`);
            }
        });
    }
    poolAt(address) {
        return this.pools.find((pool)=>pool.address === address);
    }
}
const asError = (thrown)=>TesseraError.from(thrown);
/** Several pools as one. */ export class AllPools {
    pools;
    constructor(pools){
        this.pools = pools;
    }
    mayHold(userId) {
        return this.pools.some((pool)=>pool.mayHold(userId));
    }
    append(userId, budgetMs) {
        const held = this.pools.filter((pool)=>pool.mayHold(userId));
        return eachOf(held, (pool)=>pool.append(userId, budgetMs));
    }
    erase(userId, budgetMs) {
        return eachOf(this.pools, (pool)=>pool.erase(userId, budgetMs));
    }
}
/** Waits for all; rejects with the reasons of those that failed. */ async function eachOf(pools, act) {
    const failures = [];
    await Promise.all(pools.map((pool)=>act(pool).catch((thrown)=>{
            failures.push(TesseraError.from(thrown));
        })));
    const [first] = failures;
    if (first === undefined) return;
    if (failures.length === 1) throw first;
    throw new TesseraError(first.code, failures.map(({ message })=>message).join('; '));
}
function requestOf(userId) {
    return {
        requestId: '',
        userId,
        profile: {},
        scene: {},
        priority: 'low',
        skipUnknownItems: true
    };
}

//# sourceMappingURL=followed-pools.js.map