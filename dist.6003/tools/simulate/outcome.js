import { variance } from "./load-windows.js";
function timesOf(us) {
    const sorted = us.toSorted((a, b)=>a - b);
    const at = (share)=>(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0) / 1000;
    const sum = sorted.reduce((total, value)=>total + value, 0);
    return {
        count: sorted.length,
        meanMs: sorted.length === 0 ? 0 : sum / sorted.length / 1000,
        p50Ms: at(0.5),
        p90Ms: at(0.9),
        p99Ms: at(0.99)
    };
}
/** Counts while the simulation goes on. */ export class Tally {
    arrived = 0;
    answered = 0;
    appended = 0;
    repeated = 0;
    refused = {
        'first-step': 0,
        answers: 0,
        wasted: 0,
        'no-node': 0
    };
    tokens = {
        memory: 0,
        disk: 0,
        shared: 0,
        computed: 0
    };
    firstUs = [];
    answerUs = [];
    outcome(ended) {
        const { prompts, answers, endUs, nodes } = ended;
        const loadOf = ({ windows, capacity })=>variance(windows.loads(ended.lastArrivalUs, capacity));
        return {
            arrived: this.arrived,
            answered: this.answered,
            appended: this.appended,
            refused: this.refused,
            repeated: this.repeated,
            tokens: this.tokens,
            firstStep: timesOf(this.firstUs),
            answer: timesOf(this.answerUs),
            seconds: endUs / 1e6,
            utilisation: endUs === 0 ? 0 : ended.busyUs / endUs / nodes,
            storeReadBytes: ended.storeReadBytes,
            storeWrittenBytes: ended.storeWrittenBytes,
            promptVariance: loadOf(prompts),
            answerVariance: loadOf(answers)
        };
    }
}

//# sourceMappingURL=outcome.js.map