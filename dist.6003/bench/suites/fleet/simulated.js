import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { drawnUsers } from "../../../tools/simulate/drawn-users.js";
import { MODELS } from "../../../tools/simulate/model-costs.js";
import { plainOptions } from "../../../tools/simulate/options.js";
import { POLICIES } from "../../../tools/simulate/policies.js";
import { Simulation } from "../../../tools/simulate/simulation.js";
import { readTrace, spedUp } from "../../../tools/simulate/trace.js";
const TRACE = join(repositoryRoot, '..', 'shared/data/traces/mooncake/conversation_trace.jsonl');
const GB = 1e9;
/** A node of the published cluster: 300 GB for keys and values, 100 Gbit/s. */ const LOCAL = {
    memoryBytes: 300 * GB,
    diskBytes: 0,
    diskBytesPerUs: 0,
    sharedBytes: 0,
    sharedBytesPerUs: 0,
    linkBytesPerUs: 12_500,
    writeBytesPerUs: 0
};
const STORE = {
    sharedBytes: 20_000 * GB,
    sharedBytesPerUs: 100_000
};
const SHARED = Object.assign({
    ...LOCAL
}, STORE);
/** Of an answer node; the trace at twice its rate offers it 0.86 of what it decodes. */ const ANSWERS_MAX = 6;
function run(workload, changed) {
    const published = {
        nodes: 8,
        answerNodes: 8,
        sizes: LOCAL
    };
    const options = plainOptions(workload, MODELS['70b']);
    return new Simulation(workload, Object.assign(options, published, changed)).run();
}
const refusals = ({ refused })=>Object.values(refused).reduce((a, b)=>a + b);
const atMost = (name, value, bar)=>({
        name,
        value,
        unit: '',
        bar,
        bound: 'at-most'
    });
const figure = (name, value, unit)=>({
        name,
        value,
        unit,
        bar: null
    });
function foreseen(trace) {
    const fast = spedUp(trace, 2);
    const of = (admission)=>run(fast, {
            admission,
            answersMax: ANSWERS_MAX
        });
    const [late, present, predicted] = [
        of('late'),
        of('present'),
        of('predicted')
    ];
    return [
        figure('refused, answers judged when they begin', refusals(late), ''),
        figure('refused, by present load', refusals(present), ''),
        figure('refused, by predicted load', refusals(predicted), ''),
        figure('prompts computed in vain, by present load', present.refused.wasted, ''),
        figure('prompts computed in vain, by predicted load', predicted.refused.wasted, ''),
        atMost('refused, predicted over present load', refusals(predicted) / refusals(present), 0.86),
        atMost('variance of prompt load, predicted over present', predicted.promptVariance / present.promptVariance, 1),
        atMost('variance of answer load, predicted over present', predicted.answerVariance / present.answerVariance, 1)
    ];
}
function stored(trace) {
    const [local, shared] = [
        run(trace, {}),
        run(trace, {
            sizes: SHARED
        })
    ];
    return [
        figure('first step, local pools, mean', local.firstStep.meanMs, 'ms'),
        figure('first step, shared store, mean', shared.firstStep.meanMs, 'ms'),
        atMost('first step, shared over local', shared.firstStep.meanMs / local.firstStep.meanMs, 0.86)
    ];
}
/** The rivals' best is a row of its own: the router has to be sooner than any of them. */ function routed(trace) {
    return [
        8,
        16
    ].flatMap((nodes)=>{
        const of = (policy)=>run(trace, {
                policy,
                nodes,
                sizes: SHARED
            }).firstStep.meanMs;
        const oracle = of('oracle');
        const rivals = POLICIES.filter((policy)=>policy !== 'oracle' && policy !== 'router');
        const regrets = rivals.map((policy)=>({
                policy,
                value: of(policy) / oracle
            }));
        const best = Math.min(...regrets.map(({ value })=>value));
        const own = of('router') / oracle;
        const name = (policy)=>`first step over an oracle's, ${nodes} nodes, ${policy}`;
        return [
            ...regrets.map(({ policy, value })=>figure(name(policy), value, '')),
            atMost(name('router'), own, 1.1),
            atMost(`first step over the best other's, ${nodes} nodes, router`, own / best, 1)
        ];
    });
}
/** Appends for more than all nodes' time in the middle third; answers count from there on. */ function flooded() {
    const seconds = 600;
    const users = drawnUsers({
        users: 1000,
        zipf: 1.1,
        recallsPerSecond: 10,
        appendsPerSecond: 10,
        flood: 60,
        seconds,
        historyTokens: 1000,
        appendTokens: 32,
        sceneTokens: 16,
        steps: 4,
        blockTokens: 32,
        seed: 1
    });
    const sizes = {
        memoryBytes: 8 * GB,
        sharedBytes: 200 * GB,
        linkBytesPerUs: 1250
    };
    const common = {
        costs: MODELS['8x512'],
        sizes: Object.assign({
            ...LOCAL
        }, sizes, {
            writeBytesPerUs: 200
        }),
        answersMax: 1000,
        splitTokens: 2000,
        warmUpUs: seconds * 1e6 / 3
    };
    const together = run(users, Object.assign({
        nodes: 8,
        answerNodes: 0
    }, common));
    const apart = run(users, Object.assign({
        nodes: 4,
        answerNodes: 4
    }, common));
    return [
        figure('answers under a flood of appends, together, p99', together.answer.p99Ms, 'ms'),
        figure('answers under a flood of appends, apart, p99', apart.answer.p99Ms, 'ms'),
        atMost('the same, apart over together', apart.answer.p99Ms / together.answer.p99Ms, 0.8)
    ];
}
/** The blocks that the whole trace asks for most, which no planner knows beforehand. */ function hottest({ arrivals }, share) {
    const asked = new Map();
    for (const { blocks } of arrivals){
        for (const block of blocks)asked.set(block, (asked.get(block) ?? 0) + 1);
    }
    const sorted = [
        ...asked
    ].sort(([, a], [, b])=>b - a);
    return new Set(sorted.slice(0, Math.ceil(share * sorted.length)).map(([block])=>block));
}
function planned(trace) {
    const demand = run(trace, {
        sizes: SHARED
    });
    const plan = run(trace, {
        sizes: SHARED,
        planned: hottest(trace, 0.01)
    });
    const ratio = demand.firstStep.meanMs / plan.firstStep.meanMs;
    return [
        atMost('first step, copies on demand over planned ones of the top 1 %', ratio, 1.05)
    ];
}
/** One seed, one outcome: these rows are the same on every machine. */ export async function simulated({ say }) {
    say('roles under a flood');
    const apart = flooded();
    if (!existsSync(TRACE)) {
        say('left out: the rows of the conversation trace, which is not there');
        return apart;
    }
    const trace = await readTrace(TRACE);
    say('the conversation trace');
    return [
        ...foreseen(trace),
        ...stored(trace),
        ...routed(trace),
        ...apart,
        ...planned(trace)
    ];
}

//# sourceMappingURL=simulated.js.map