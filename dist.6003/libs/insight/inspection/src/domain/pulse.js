/** How the service fared in a short time: what the live view shows, point by point. */ import { MILLISECONDS_PER_SECOND } from "../../../../ops/units/src/index.js";
/** Stages of which a pulse has the times, in the order of a recall. */ const PULSE_STAGES = [
    'features',
    'prompt',
    'queue',
    'prefill',
    'decode',
    'head',
    'select',
    'export',
    'total'
];
/** Recalls of one pulse whose times are kept at most; each further one takes the oldest's place. */ export const SAMPLES_MAX = 4096;
/** Collects what one pulse tells. */ export class PulseMeter {
    startedMs;
    answered = 0;
    short = 0;
    recorded = 0;
    refused = {};
    /** Microseconds by stage. Numbers alone: kept answers would be moved by each collection. */ stagesUs = PULSE_STAGES.map(()=>new Float64Array(SAMPLES_MAX));
    tokens = {
        device: 0,
        host: 0,
        disk: 0,
        shared: 0,
        computed: 0
    };
    widthMax = 0;
    widthSum = 0;
    widthCount = 0;
    constructor(startedMs){
        this.startedMs = startedMs;
    }
    answer({ timings, kv, widthsUsed, short }) {
        const place = this.answered % SAMPLES_MAX;
        for(let stage = 0; stage < PULSE_STAGES.length; stage++){
            const us = timings[`${PULSE_STAGES[stage]}Us`];
            this.stagesUs[stage][place] = us;
        }
        this.answered += 1;
        this.short += short ? 1 : 0;
        const { device = 0, host = 0, disk = 0 } = kv.tokensByTier;
        this.tokens.device += device;
        this.tokens.host += host;
        this.tokens.disk += disk;
        this.tokens.shared += kv.sharedTokens;
        this.tokens.computed += kv.computedTokens;
        for (const width of widthsUsed){
            this.widthMax = Math.max(this.widthMax, width);
            this.widthSum += width;
            this.widthCount += 1;
        }
    }
    refusal(code) {
        this.refused[code] = (this.refused[code] ?? 0) + 1;
    }
    record() {
        this.recorded += 1;
    }
    /** The pulse of what was collected; the next one has a meter of its own. */ end(nowMs, catalogueSequence) {
        return {
            timeMs: nowMs,
            seconds: Math.max(0, nowMs - this.startedMs) / MILLISECONDS_PER_SECOND,
            answered: this.answered,
            short: this.short,
            refused: this.refused,
            stagesUs: this.quantiles(),
            tokens: this.tokens,
            widthMax: this.widthMax,
            widthMean: this.widthCount === 0 ? 0 : this.widthSum / this.widthCount,
            recorded: this.recorded,
            catalogueSequence
        };
    }
    /** Sorted as typed arrays, in a quarter of the time: recalls wait for it. */ quantiles() {
        const count = Math.min(this.answered, SAMPLES_MAX);
        if (count === 0) return {};
        const entries = PULSE_STAGES.map((stage, index)=>{
            const times = this.stagesUs[index].subarray(0, count).sort();
            return [
                stage,
                {
                    p50: at(times, 0.5),
                    p95: at(times, 0.95),
                    p99: at(times, 0.99)
                }
            ];
        });
        return Object.fromEntries(entries);
    }
}
/** The smallest time that the share of all does not exceed. */ function at(sorted, share) {
    return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

//# sourceMappingURL=pulse.js.map