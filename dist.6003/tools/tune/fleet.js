import { drawnUsers } from "../simulate/drawn-users.js";
import { plainOptions } from "../simulate/options.js";
import { Simulation } from "../simulate/simulation.js";
const NODES_MAX = 1000;
const REQUESTS_MAX = 150_000;
const SECONDS_MAX = 600;
/** Times count once this share is over: pools are still filling. */ const WARM_UP = 0.4;
const ZIPF = 1.1;
const APPEND_TOKENS = 32;
const SCENE_TOKENS = 16;
const BLOCK_TOKENS = 32;
const SEED = 1;
/** Of an NVMe disk. */ const DISK_BYTES_PER_US = 2000;
/** Of what a node may write behind, megabytes a second. */ const WRITE_BYTES_PER_US = 200;
/** True where it answers all that counts, in time. */ const holds = (outcome, { p99Ms })=>outcome.answered > 0 && outcome.answer.p99Ms <= p99Ms && outcome.utilisation < 1;
/**
 * The fewest nodes whose answers are in time, by the simulator; undefined: no count up to 1,000.
 * More nodes are never slower but for the users who lie elsewhere, so halving finds it.
 */ export function leastFleet(model, question, hasStore) {
    const { costs, steps, promptTokens } = model;
    const perSecond = question.recallsPerSecond + question.appendsPerSecond;
    const workload = drawnUsers({
        users: question.users,
        zipf: ZIPF,
        recallsPerSecond: question.recallsPerSecond,
        appendsPerSecond: question.appendsPerSecond,
        flood: 1,
        seconds: Math.min(SECONDS_MAX, REQUESTS_MAX / perSecond),
        historyTokens: Math.round(promptTokens),
        appendTokens: APPEND_TOKENS,
        sceneTokens: SCENE_TOKENS,
        steps,
        blockTokens: BLOCK_TOKENS,
        seed: SEED
    });
    const endUs = workload.arrivals.at(-1)?.atUs ?? 0;
    const sharedBytes = hasStore ? 2 * question.users * promptTokens * costs.kvBytesPerToken : 0;
    const sizes = {
        memoryBytes: question.memoryBytes,
        diskBytes: question.diskBytes,
        diskBytesPerUs: DISK_BYTES_PER_US,
        sharedBytes,
        sharedBytesPerUs: 0,
        linkBytesPerUs: question.linkBytesPerUs,
        writeBytesPerUs: WRITE_BYTES_PER_US
    };
    const given = {
        sizes,
        seed: SEED,
        warmUpUs: WARM_UP * endUs
    };
    const run = (nodes)=>{
        const options = Object.assign(plainOptions(workload, costs), given, {
            nodes
        });
        return {
            nodes,
            sharedBytes,
            outcome: new Simulation(workload, options).run()
        };
    };
    return least((nodes)=>{
        const fleet = run(nodes);
        return {
            fleet,
            isEnough: holds(fleet.outcome, question)
        };
    });
}
/** By doubling, then by halving. */ export function least(tried) {
    let [few, many] = [
        0,
        1
    ];
    let found = tried(many);
    while(!found.isEnough){
        if (many >= NODES_MAX) return undefined;
        few = many;
        many = Math.min(NODES_MAX, 2 * many);
        found = tried(many);
    }
    while(many - few > 1){
        const middle = few + many >>> 1;
        const one = tried(middle);
        if (one.isEnough) {
            found = one;
            many = middle;
        } else {
            few = middle;
        }
    }
    return found.fleet;
}

//# sourceMappingURL=fleet.js.map