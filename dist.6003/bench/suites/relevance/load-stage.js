import { longestFirst } from "../../../libs/cluster/routing/src/index.js";
import { Random } from "../../models/random.js";
import { quantile } from "../../result.js";
import { centralQueue, quantileBoundUs } from "./ideal-schedule.js";
const NODES = [
    2,
    4
];
const LOADS = [
    0.4,
    0.7
];
const CALLS = {
    quick: 1500,
    full: 6000
};
/** A 99th percentile is of the worst minutes that a seed happens to have. */ const SEEDS = {
    quick: 3,
    full: 20
};
const SHARE = 0.99;
/** Documents of a call. */ const LEAST = 10;
const SPREAD = 7;
const LENGTHS = {
    median: 70,
    spread: 0.8,
    least: 6,
    most: 900
};
/** Common beginning of the prompts, and fixed cost of a part: an eighth of a call twice. */ const SHARED_TOKENS = 120;
const TOKEN_US = 60;
const PART_US = 4000;
const roundRobin = ({ wholeUs }, queues, index)=>[
        {
            node: index % queues.length,
            us: wholeUs
        }
    ];
const leastConnections = ({ wholeUs }, queues)=>{
    const counts = queues.map(({ ends })=>ends.length);
    return [
        {
            node: counts.indexOf(Math.min(...counts)),
            us: wholeUs
        }
    ];
};
const bySplit = ({ atUs, tokens }, queues)=>{
    const nodes = queues.map(({ freeAtUs })=>{
        return {
            backlogUs: Math.max(0, freeAtUs - atUs),
            tokenUs: TOKEN_US
        };
    });
    const parts = longestFirst(tokens, SHARED_TOKENS + PART_US / TOKEN_US, nodes);
    return parts.flatMap((documents, node)=>{
        if (documents.length === 0) return [];
        return {
            node,
            us: partUsOf(documents.map((at)=>tokens[at]))
        };
    });
};
function partUsOf(tokens) {
    return PART_US + TOKEN_US * tokens.reduce((sum, one)=>sum + one, SHARED_TOKENS);
}
/** 99th percentiles of the same calls by each way, of which no nodes can have the divided ones. */ const P99S = {
    split: (arrivals, nodes)=>quantile(latenciesMs(arrivals, nodes, bySplit), SHARE),
    'round robin': (arrivals, nodes)=>quantile(latenciesMs(arrivals, nodes, roundRobin), SHARE),
    'least connections': (arrivals, nodes)=>quantile(latenciesMs(arrivals, nodes, leastConnections), SHARE),
    'one queue, whole calls as they come': (arrivals, nodes)=>quantile(centralQueue(wholes(arrivals), nodes, 'first-come'), SHARE) / 1000,
    'one queue, whole calls, the shortest first': (arrivals, nodes)=>quantile(centralQueue(wholes(arrivals), nodes, 'shortest'), SHARE) / 1000,
    'divided evenly, all costs once': (arrivals, nodes)=>quantile(centralQueue(divided(arrivals, nodes, 0), 1, 'first-come'), SHARE) / 1000,
    'divided evenly, parts cost nothing': (arrivals, nodes)=>quantile(centralQueue(divided(arrivals, nodes, PART_US), 1, 'first-come'), SHARE) / 1000,
    'the same, whoever schedules, with all that comes foreseen': (arrivals, nodes)=>quantileBoundUs(divided(arrivals, nodes, PART_US), SHARE) / 1000
};
const PEERS = [
    'round robin',
    'least connections'
];
const wholes = (arrivals)=>arrivals.map(({ atUs, wholeUs })=>({
            atUs,
            us: wholeUs
        }));
/** As one node as fast as all of them has them: what prompts begin with is computed once. */ const divided = (arrivals, nodes, savedUs)=>arrivals.map(({ atUs, wholeUs })=>({
            atUs,
            us: (wholeUs - savedUs) / nodes
        }));
/**
 * Calls at a share of what all nodes can do whole, dealt out by each way; simulated. Ratios are the
 * median of all seeds.
 */ export async function loadStage({ quick, say }) {
    const form = quick ? 'quick' : 'full';
    const own = Object.keys(P99S).filter((name)=>!PEERS.includes(name));
    return NODES.flatMap((nodes)=>LOADS.flatMap((load)=>{
            const what = `${CALLS[form]} calls at ${100 * load} % of ${nodes} nodes, simulated, p99`;
            say(`${what}, ${SEEDS[form]} seeds`);
            const seeds = Array.from({
                length: SEEDS[form]
            }, (_, seed)=>{
                return arrivalsAt(load * nodes, CALLS[form], 1 + seed);
            });
            const p99s = new Map();
            for (const way of Object.keys(P99S)){
                p99s.set(way, seeds.map((arrivals)=>P99S[way](arrivals, nodes)));
            }
            return own.flatMap((way)=>PEERS.map((peer)=>rowOf(`${what}: ${way}`, p99s, way, peer)));
        }));
}
function rowOf(name, p99s, way, peer) {
    const values = p99s.get(way) ?? [];
    const peers = p99s.get(peer) ?? [];
    const ratios = values.map((value, seed)=>value / peers[seed]);
    const ratio = {
        value: quantile(ratios, 0.5),
        to: peer
    };
    return {
        name,
        value: quantile(values, 0.5),
        unit: 'ms',
        ratio,
        bar: null
    };
}
/** Poisson arrivals of so much work a unit of time. */ function arrivalsAt(load, count, seed) {
    const random = new Random(seed);
    const calls = Array.from({
        length: count
    }, ()=>Array.from({
            length: LEAST + random.below(SPREAD)
        }, ()=>random.length(LENGTHS)));
    const sizes = calls.map(partUsOf);
    const gapUs = sizes.reduce((sum, us)=>sum + us, 0) / count / load;
    let atUs = 0;
    return calls.map((tokens, i)=>{
        atUs -= Math.log(1 - random.uniform()) * gapUs;
        return {
            atUs,
            tokens,
            wholeUs: sizes[i]
        };
    });
}
function latenciesMs(arrivals, nodes, way) {
    const queues = Array.from({
        length: nodes
    }, ()=>({
            freeAtUs: 0,
            ends: []
        }));
    return arrivals.map((arrival, index)=>{
        const { atUs } = arrival;
        for (const queue of queues)queue.ends = queue.ends.filter((endUs)=>endUs > atUs);
        let lastUs = atUs;
        for (const { node, us } of way(arrival, queues, index)){
            const queue = queues[node];
            queue.freeAtUs = Math.max(atUs, queue.freeAtUs) + us;
            queue.ends.push(queue.freeAtUs);
            lastUs = Math.max(lastUs, queue.freeAtUs);
        }
        return (lastUs - atUs) / 1000;
    });
}

//# sourceMappingURL=load-stage.js.map