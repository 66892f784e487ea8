/** Metrics of the engine, which counts by itself; each scrape copies its counts. */ import { MICROSECONDS_PER_SECOND } from "../../units/src/index.js";
import { Gauge } from "prom-client";
import { copyCount, copyCounts } from "./tallies.js";
export const ENGINE_METRICS = {
    engineRequests: {
        name: 'tessera_engine_requests',
        meaning: 'requests in the engine, by state (queued, running)'
    },
    engineOutcomes: {
        name: 'tessera_engine_outcomes_total',
        meaning: 'requests that left the engine, by outcome (completed, failed, cancelled, expired)'
    },
    engineTokens: {
        name: 'tessera_engine_tokens_total',
        meaning: 'tokens computed, by phase (prefill, decode)'
    },
    engineForwardPasses: {
        name: 'tessera_engine_forward_passes_total',
        meaning: 'forward passes of the model'
    },
    enginePassSeconds: {
        name: 'tessera_engine_pass_seconds_total',
        meaning: 'seconds of all forward passes, by kind (predicted by the cost model, actual)'
    },
    enginePrefixTokens: {
        name: 'tessera_engine_prefix_tokens_total',
        meaning: 'prompt tokens by outcome (reused: taken from another request; rolled_back: computed on ' + 'rows that failed)'
    },
    expertsTouched: {
        name: 'tessera_engine_experts_touched_total',
        meaning: 'experts with weights read, counted once per layer and forward pass'
    },
    expertPadding: {
        name: 'tessera_engine_expert_padding_ratio',
        meaning: 'ratio of padded to real rows in products with experts since the start; 0: none yet'
    }
};
export function registerEngineMetrics(registry, counts) {
    registerRequests(registry, counts);
    copyCounts(registry, ENGINE_METRICS.engineOutcomes, 'outcome', ()=>{
        const { completed, failed, cancelled, expired } = counts();
        return {
            completed,
            failed,
            cancelled,
            expired
        };
    });
    copyCounts(registry, ENGINE_METRICS.engineTokens, 'phase', ()=>{
        const { prefillTokens, decodeTokens } = counts();
        return {
            prefill: prefillTokens,
            decode: decodeTokens
        };
    });
    copyCounts(registry, ENGINE_METRICS.enginePassSeconds, 'kind', ()=>{
        const { predictedUs, actualUs } = counts();
        const predicted = predictedUs / MICROSECONDS_PER_SECOND;
        return {
            predicted,
            actual: actualUs / MICROSECONDS_PER_SECOND
        };
    });
    copyCounts(registry, ENGINE_METRICS.enginePrefixTokens, 'outcome', ()=>{
        const { prefixReusedTokens, rolledBackTokens } = counts();
        return {
            reused: prefixReusedTokens,
            rolled_back: rolledBackTokens
        };
    });
    copyCount(registry, ENGINE_METRICS.engineForwardPasses, ()=>counts().forwardPasses);
    copyCount(registry, ENGINE_METRICS.expertsTouched, ()=>counts().expertsTouched);
    registerPadding(registry, counts);
}
function registerRequests(registry, counts) {
    new Gauge({
        name: ENGINE_METRICS.engineRequests.name,
        help: ENGINE_METRICS.engineRequests.meaning,
        labelNames: [
            'state'
        ],
        registers: [
            registry
        ],
        collect () {
            const { queued, running } = counts();
            this.set({
                state: 'queued'
            }, queued);
            this.set({
                state: 'running'
            }, running);
        }
    });
}
function registerPadding(registry, counts) {
    new Gauge({
        name: ENGINE_METRICS.expertPadding.name,
        help: ENGINE_METRICS.expertPadding.meaning,
        registers: [
            registry
        ],
        collect () {
            const { expertRows, expertPlaces } = counts();
            this.set(expertRows === 0 ? 0 : expertPlaces / expertRows);
        }
    });
}

//# sourceMappingURL=engine-metrics.js.map