import { NodeLoads, PARTITION_COUNT, partitionOf, Router, RoutingTable, xxh32 } from "../../../libs/cluster/routing/src/index.js";
import { seededRandom } from "../../../libs/testing/src/index.js";
import { quantile } from "../../result.js";
import { Ring } from "./bounded-ring.js";
const SEED = 21;
const ZIPF = 1.1;
const USERS = 1_000_000;
/** Of the nodes' time that the simulated requests take. */ const USED = 0.7;
const MEAN_COST_US = 10_000;
const membersOf = (count)=>Array.from({
        length: count
    }, (_, n)=>{
        const name = `node-${String(n).padStart(4, '0')}`;
        return {
            name,
            grpc: `${name}:1`,
            http: `${name}:2`,
            weight: 1
        };
    });
const namesOf = (members)=>members.map(({ name })=>name);
/** Users that change their node when k nodes become k + 1. */ function moves(k) {
    const [before, after] = [
        membersOf(k),
        membersOf(k + 1)
    ];
    const tables = [
        before,
        after
    ].map((members)=>new RoutingTable(members, 1));
    let moved = 0;
    for(let partition = 0; partition < PARTITION_COUNT; partition += 1){
        if (tables[0]?.nodeAt(partition, 0) !== tables[1]?.nodeAt(partition, 0)) moved += 1;
    }
    const rings = [
        before,
        after
    ].map((members)=>new Ring(namesOf(members)));
    const samples = 50_000;
    let ringMoved = 0;
    for(let n = 0; n < samples; n += 1){
        const hash = xxh32(new TextEncoder().encode(`user-${n}`));
        const [old, now] = rings.map((ring)=>ring.order(hash).next().value);
        if (old !== now) ringMoved += 1;
    }
    const share = 100 * moved / PARTITION_COUNT;
    return [
        {
            name: `users moved, ${k} to ${k + 1} nodes`,
            value: share,
            unit: '%',
            bar: 100 / (k + 1) + 1,
            bound: 'at-most'
        },
        {
            name: `the same by a ring of 160 points`,
            value: 100 * ringMoved / samples,
            unit: '%',
            bar: null
        }
    ];
}
/** First in, first out at each node; what is outstanding is known exactly. */ function simulate(nodes, requests, isBounded) {
    const random = seededRandom(SEED);
    const table = new RoutingTable(membersOf(nodes), 1);
    const loads = new NodeLoads(table);
    for(let node = 0; node < nodes; node += 1)loads.setUp(node, true);
    const user = zipfUsers(random);
    const done = Array.from({
        length: nodes
    }, ()=>0);
    const freeAtUs = Array.from({
        length: nodes
    }, ()=>0);
    const queues = Array.from({
        length: nodes
    }, ()=>[]);
    const waits = [];
    let [nowUs, atOwner] = [
        0,
        0
    ];
    for(let n = 0; n < requests; n += 1){
        nowUs += -Math.log(1 - random()) * MEAN_COST_US / (nodes * USED);
        for (const [node, queue] of queues.entries()){
            while(queue[0] !== undefined && queue[0].atUs <= nowUs){
                loads.end(node, queue.shift().us);
            }
        }
        const partition = partitionOf(`user-${user()}`);
        const owner = table.nodeAt(partition, 0);
        const { node } = isBounded ? loads.choose(partition) : {
            node: owner
        };
        if (node === owner) atOwner += 1;
        const us = MEAN_COST_US * (0.5 + random());
        const beginsUs = Math.max(nowUs, freeAtUs[node]);
        waits.push((beginsUs - nowUs) / 1000);
        freeAtUs[node] = beginsUs + us;
        done[node] = done[node] + us;
        loads.begin(node, us);
        queues[node]?.push({
            atUs: beginsUs + us,
            us
        });
    }
    const mean = done.reduce((sum, us)=>sum + us, 0) / nodes;
    return {
        imbalance: Math.max(...done) / mean,
        atOwner: atOwner / requests,
        p99WaitMs: quantile(waits, 0.99)
    };
}
/** Users by rank: the first is asked for most. */ function zipfUsers(random) {
    const sums = new Float64Array(USERS);
    let sum = 0;
    for(let rank = 0; rank < USERS; rank += 1){
        sum += (rank + 1) ** -ZIPF;
        sums[rank] = sum;
    }
    return ()=>{
        const wanted = random() * sum;
        let [low, high] = [
            0,
            USERS - 1
        ];
        while(low < high){
            const middle = low + high >>> 1;
            if (sums[middle] < wanted) low = middle + 1;
            else high = middle;
        }
        return low;
    };
}
function balance(nodes, requests) {
    const bounded = simulate(nodes, requests, true);
    const strict = simulate(nodes, requests, false);
    const name = `Zipf(1.1) users, ${nodes} nodes`;
    const row = (what, value, unit)=>({
            name: `${name}: ${what}`,
            value,
            unit,
            bar: null
        });
    return [
        {
            ...row('greatest over mean work', bounded.imbalance, ''),
            bar: 1.25,
            bound: 'at-most'
        },
        {
            ...row('requests at their owner', 100 * bounded.atOwner, '%'),
            bar: 95
        },
        row('wait p99', bounded.p99WaitMs, 'ms'),
        row('greatest over mean work, owners alone', strict.imbalance, ''),
        row('wait p99, owners alone', strict.p99WaitMs, 'ms')
    ];
}
/** Of a whole request of a client that routes by itself, but for what it sends. */ function routedUs(members, ids) {
    const router = new Router();
    router.setMembers(members);
    for (const { name } of members)router.setUp(name, true);
    const requests = 200_000;
    const from = performance.now();
    for(let n = 0; n < requests; n += 1){
        const name = router.choose(partitionOf(ids[n & 4095]))?.name ?? '';
        const end = router.begin(name, 'Recall 4');
        router.state(name, n % 7);
        end(true);
    }
    return (performance.now() - from) * 1000 / requests;
}
/** A thousand nodes: what a table and a decision cost, and how even the users lie. */ function thousand(users) {
    const members = membersOf(1000);
    const builtFrom = performance.now();
    const table = new RoutingTable(members, 1);
    const buildMs = performance.now() - builtFrom;
    const changedFrom = performance.now();
    const changed = new RoutingTable(members.slice(1), 2, table);
    const changeMs = performance.now() - changedFrom;
    if (changed.digest === table.digest) throw new Error('expected another table');
    const loads = new NodeLoads(table);
    for(let node = 0; node < members.length; node += 1)loads.setUp(node, true);
    const ids = Array.from({
        length: 4096
    }, (_, n)=>Buffer.from(`user-${n * 7919}`));
    const decisions = 2_000_000;
    let chosen = 0;
    const decidedFrom = performance.now();
    for(let n = 0; n < decisions; n += 1){
        chosen += loads.choose(partitionOf(ids[n & 4095]))?.node ?? 0;
    }
    const decisionUs = (performance.now() - decidedFrom) * 1000 / decisions;
    if (chosen === 0) throw new Error('expected nodes, got none');
    const held = new Float64Array(members.length);
    const id = Buffer.alloc(8);
    for(let user = 0; user < users; user += 1){
        id.writeDoubleLE(user);
        const node = table.nodeAt(partitionOf(id), 0);
        held[node] = held[node] + 1;
    }
    const most = held.reduce((a, b)=>Math.max(a, b), 0);
    const name = `1,000 nodes, ${(users / 1e6).toFixed(0)} M users`;
    return [
        {
            name: `${name}: table`,
            value: table.bytes / 2 ** 20,
            unit: 'MiB',
            bar: 1,
            bound: 'at-most'
        },
        {
            name: `${name}: decision`,
            value: decisionUs,
            unit: 'us',
            bar: 1,
            bound: 'at-most'
        },
        {
            name: `${name}: making the table`,
            value: buildMs,
            unit: 'ms',
            bar: null
        },
        {
            name: `${name}: a node less`,
            value: changeMs,
            unit: 'ms',
            bar: null
        },
        {
            name: `${name}: decision and accounts of a client`,
            value: routedUs(members, ids),
            unit: 'us',
            bar: 50,
            bound: 'at-most'
        },
        {
            name: `${name}: greatest over mean users at owners`,
            value: most * members.length / users,
            unit: '',
            bar: null
        }
    ];
}
/** The same code as a gateway's, without a network. */ export async function simulated({ quick, say }) {
    say('moves of users');
    const moved = [
        3,
        16,
        999
    ].flatMap(moves);
    say('load of Zipf users');
    const requests = quick ? 100_000 : 500_000;
    const even = [
        3,
        16
    ].flatMap((nodes)=>balance(nodes, requests));
    say('a thousand nodes');
    return [
        ...moved,
        ...even,
        ...thousand(quick ? 5_000_000 : 100_000_000)
    ];
}

//# sourceMappingURL=simulated.js.map